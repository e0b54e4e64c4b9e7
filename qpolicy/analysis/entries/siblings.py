"""Entries that catch modules which no entry names: substrings, endings and open expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from qpolicy.analysis.entries.intended import meaning
from qpolicy.bind import Ask, Matcher
from qpolicy.native import Answer, Entry

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Caught:
    """Entries that are alike but for their numbers, and what they catch beside what they name.

    Attributes:
        entries: The entries.
        modules: The stored modules that they exclude and that no entry names.
    """

    entries: tuple[Entry, ...]
    modules: tuple[str, ...]


def siblings(matcher: Matcher, answered: Iterable[tuple[Ask, Answer]]) -> tuple[Caught, ...]:
    """Find modules that a list excludes although none of its entries names them.

    Only an entry that does name some stored module is told of: one that names none speaks of other spellings.

    Args:
        matcher: The target or the draft, bound to a checkpoint.
        answered: What the engine makes of the list for its layers.
    """
    world = matcher.binding.world
    if world.config is None:
        return ()
    index = _Named(world.config.entries, {name: world.stored.aliases(name) for name in world.stored.modules})
    caught: dict[Entry, list[str]] = {}
    for ask, answer in answered:
        if answer.excluded and answer.outcome == "unquantized":
            unnamed = [module.name for module in ask.modules if not index.is_named(module.name, answer.entries)]
            # Experts of which some are named are half excluded, which is another matter.
            if ask.kind != "moe" or len(unnamed) == len(ask.modules):
                for entry in answer.entries if unnamed else ():
                    caught.setdefault(entry, []).extend(unnamed)
    return tuple(_grouped({entry: names for entry, names in caught.items() if index.names_any(entry)}))


def _grouped(caught: Mapping[Entry, list[str]]) -> Iterator[Caught]:
    groups: dict[str, list[Entry]] = {}
    for entry in caught:
        groups.setdefault(_NUMBER.sub("0", entry.text), []).append(entry)
    for entries in groups.values():
        yield Caught(tuple(entries), tuple(dict.fromkeys(name for entry in entries for name in caught[entry])))


@dataclass(frozen=True)
class _Named:
    """Knows which modules entries name.

    Attributes:
        entries: All entries.
        aliases: Each stored module with the names that it goes by.
    """

    entries: tuple[Entry, ...]
    aliases: Mapping[str, tuple[str, ...]]

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(entry.text.rstrip(".") for entry in self.entries if meaning(entry.text).syntax == "name")

    def is_named(self, module: str, caught_by: Iterable[Entry]) -> bool:
        """Tell whether any entry names a module; of the expressions, those that caught it are asked."""
        names = self.aliases.get(module, (module,))
        if any(run in self._plain for name in names for run in _runs(name)):
            return True
        return any(meaning(entry.text).names(name) for entry in caught_by for name in names)

    def names_any(self, entry: Entry) -> bool:
        """Tell whether an entry names some stored module."""
        names = meaning(entry.text).names
        return any(names(alias) for found in self.aliases.values() for alias in found)


def _runs(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[start:stop]) for start in range(len(parts)) for stop in range(start + 1, len(parts) + 1))
