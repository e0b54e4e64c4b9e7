"""Looks names up among a config's rules: ordered names or expressions, each of which gives a scheme or none.

A reading says in ``tiers`` in which order it compares: all rules by the first tier, then all by the next. Within a
tier the first rule that fits decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from qpolicy.native.config import Entry, Group, NativeConfig
from qpolicy.native.index import EntryIndex, Item
from qpolicy.native.records import Record, Tier

_NOTHING = Group("none", "global", (), False, None)


@dataclass(frozen=True, slots=True)
class Found:
    """The rule that decides about a name.

    Attributes:
        group: The rule's scheme.
        entry: The rule's own string.
        error: What the engine stumbles over before it finds one; the other two are then meaningless.
    """

    group: Group
    entry: Entry
    error: str | None = None

    @property
    def excludes(self) -> bool:
        """Whether the rule leaves the module alone."""
        return not self.group.quantizes


class Rules:
    """The rules of one config, ready to be looked up as one reading does.

    Attributes:
        names: Every rule with its string, in published order.
        otherwise: What the config says about names that no rule decides.
        depth: The number of tiers.
    """

    def __init__(self, config: NativeConfig, record: Record, *, exclusions: bool = True) -> None:
        groups = [group for group in config.groups if group.role == "rule" and (exclusions or group.quantizes)]
        published = [(entry.text, Found(group, entry)) for group in groups for entry in group.targets]
        # An engine's own spelling of a name replaces a rule that is published under it.
        added = [(other, rule) for text, rule in published for other in _added(record, text)]
        self.names = (*added, *published)
        self.otherwise = next((group for group in config.groups if group.role == "global"), _NOTHING)
        self.depth = len(record.tiers)
        items = [Item(text, found.entry) for text, found in self.names]
        self._tiers = [(tier, EntryIndex(items, tier.clauses)) for tier in record.tiers if items]

    def first(self, name: str, tiers: int | None = None) -> Found | None:
        """Return the rule that decides about a name, or None when none fits.

        Args:
            name: The name.
            tiers: How many of the tiers to try; None for all.

        Raises:
            NativeConfigError: A rule's expression takes too long on this name.
        """
        found = (self.at(name, tier) for tier in range(len(self._tiers[:tiers])))
        return next((one for one in found if one is not None), None)

    def at(self, name: str, tier: int) -> Found | None:
        """Return the rule that decides about a name by one tier, or None."""
        if not self._tiers:
            return None
        spelled = _spelled(self._tiers[tier][0], name)
        hits = None if spelled is None else self._tiers[tier][1].hits(spelled)
        if hits is not None and hits.error is not None:
            return replace(self.names[0][1], error=hits.error)
        return self.names[hits.places[0]][1] if hits else None

    def fitting(self, name: str) -> tuple[Entry, ...]:
        """Return the strings of all rules that fit the name and leave modules alone, whichever decides."""
        found = []
        for tier, index in self._tiers:
            spelled = _spelled(tier, name)
            places = () if spelled is None else index.hits(spelled).places
            found += [self.names[place][1] for place in places]
        return tuple(dict.fromkeys(one.entry for one in found if one.excludes))


def _spelled(tier: Tier, name: str) -> str | None:
    spelled: str | None = name
    for word in tier.respell:
        spelled = None if spelled is None else _RESPELLINGS[word](spelled)
    return None if spelled is None else spelled + tier.suffix


def _added(record: Record, text: str) -> list[str]:
    others = [_ALIASES[word](text) for word in record.rule_aliases]
    return [other for other in others if other != text]


def _mlp(text: str) -> str:
    experts = text.replace("block_sparse_moe.experts", "mlp.experts")
    return experts.replace("block_sparse_moe.shared_experts", "mlp.shared_experts")


_ALIASES: dict[str, Callable[[str], str]] = {"mlp-for-block-sparse-moe": _mlp}


def _block_sparse_moe(name: str) -> str | None:
    return name.replace(".mlp.", ".block_sparse_moe.") if ".mlp." in name else None


def _other_language_model(name: str) -> str:
    prefix = "language_model."
    return name.removeprefix(prefix) if name.startswith(prefix) else prefix + name


_RESPELLINGS: dict[str, Callable[[str], str | None]] = {
    "block-sparse-moe": _block_sparse_moe,
    "other-language-model": _other_language_model,
}
