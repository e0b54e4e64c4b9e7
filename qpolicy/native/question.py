"""One name put to one list, and what the list says about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qpolicy.native.config import Entry
from qpolicy.native.index import EntryIndex, Hits
from qpolicy.native.loaded import Lists
from qpolicy.native.records import Record, class_names
from qpolicy.native.rules import Rules

Families = Mapping[str, Sequence[str]]

_EXPERTS = re.compile(r"((?:.*\.)?experts)\..+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a list says about one name.

    Attributes:
        excluded: The list excludes it.
        entries: The entries that say so.
        error: Why the engine refuses to answer, if it does.
        members: The excluded and the other shards, when they disagree.
        step: The step of the reading that decided; empty when none did.
    """

    excluded: bool
    entries: tuple[Entry, ...] = ()
    error: str | None = None
    members: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    step: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One name put to one list.

    Attributes:
        name: The name.
        kind: The layer's kind.
        record: The reading.
        packed: The fused families that the model declares.
        lists: The config's lists and rules, as the reading compares them.
        steps: The steps by which such a layer comes to be excluded.
    """

    name: str
    kind: str
    record: Record
    packed: Families
    lists: Lists
    steps: tuple[str, ...]

    @property
    def index(self) -> EntryIndex:
        """The exclusion list by the reading's first set of comparisons."""
        return self.lists.index

    @property
    def rules(self) -> Rules:
        """The config's rules, as the reading looks them up."""
        return self.lists.rules

    @property
    def included(self) -> EntryIndex | None:
        """The list of what is quantized, if the config has one that the reading consults."""
        return self.lists.included

    def by_pattern(self) -> Hits:
        """Compare the list with the name by the reading's second set of comparisons."""
        return self.lists.patterns.hits(self.name)

    def container(self) -> str:
        """Return the experts container that a stored module belongs to, or the name itself."""
        found = _EXPERTS.fullmatch(self.name)
        return found[1] if found else self.name

    def shards(self) -> tuple[str, ...] | None:
        """Return the names of the shards of a fused layer, or None for a layer that is none.

        Every occurrence of the leaf is replaced, also further up in the name, for so do the engines.
        """
        leaf = self.name.rpartition(".")[2]
        family = self.packed.get(leaf, self.record.fallback.get(leaf))
        return None if family is None else tuple(self.name.replace(leaf, shard) for shard in family)

    def families(self) -> tuple[str, ...]:
        """Return the fused layers and the experts container that a stored module belongs to."""
        parent, dot, leaf = self.name.rpartition(".")
        fused = [parent + dot + family for family, shards in self.packed.items() if leaf in shards]
        container = _EXPERTS.fullmatch(self.name)
        return (*fused, container[1]) if container else tuple(fused)

    def below_experts(self) -> tuple[Entry, ...]:
        """Return the entries that lie below this name, if it is an experts container."""
        return self.below() if self.name.endswith(".experts") else ()

    def below(self) -> tuple[Entry, ...]:
        """Return the entries that lie below this name."""
        return self._beginning(self.name + ".")

    def at_or_below(self) -> tuple[Entry, ...]:
        """Return the entries that are this name or lie below it."""
        own = tuple(item.entry for item in self.index.items if item.text == self.name)
        return own + self.below()

    def _beginning(self, start: str) -> tuple[Entry, ...]:
        return tuple(item.entry for item in self.index.items if item.text.startswith(start))

    def about_experts(self) -> bool:
        """Tell whether the name is about experts; where their halves have a step of their own, a fused one is not."""
        guarded = "gate-and-up" in self.steps and "gate_up_proj" in self.name
        return "experts" in self.name and not guarded

    def containing(self) -> tuple[Entry, ...]:
        """Return the entries about experts that contain this name, if it is about experts too."""
        if not self.about_experts():
            return ()
        return tuple(item.entry for item in self.index.about_experts if self.name in item.text)

    def own_or_class(self) -> Hits:
        """Compare the list with the name and with the names of the layer's class."""
        return self.index.hits(self.name, class_names(self.record.classes, self.kind, self.name.rpartition(".")[2]))
