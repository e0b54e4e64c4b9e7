"""Finds the scheme that an engine gives to a layer which no list excludes: executes a kind's ``steps``.

Each verb that a reading may use as such a step is one function here; it returns a choice, or None to let the
next step decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from qpolicy.native import settings
from qpolicy.native.arguments import same_scheme
from qpolicy.native.config import Group
from qpolicy.native.index import EntryIndex, Item
from qpolicy.native.positive import PositiveMap
from qpolicy.native.question import Families, Question
from qpolicy.native.records import Record, class_names
from qpolicy.native.regex import RegexError, compile_regex
from qpolicy.native.startup import MARLIN_TYPES

_MOST_NESTED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The scheme chosen for a name.

    Attributes:
        group: The scheme, or None when the engine refuses.
        error: Why the engine refuses.
        why: Which target chose it.
    """

    group: Group | None
    error: str | None = None
    why: str = ""


class Targets:
    """The targets of all schemes in the order in which an engine tries them, with the scheme that each stands for."""

    def __init__(self, pairs: tuple[tuple[Item, Group], ...], record: Record) -> None:
        self.pairs = pairs
        items = [item for item, _ in self.pairs]
        self.index = EntryIndex(items, record.target_clauses)
        self._clauses = record.clauses
        self._by_class: dict[str, Choice | None] = {}
        self._exact = record.class_match == "exact"

    @cached_property
    def as_listed(self) -> EntryIndex:
        """The targets compared as the entries of the list are, which few readings do."""
        return EntryIndex([item for item, _ in self.pairs], self._clauses)

    @cached_property
    def positive(self) -> PositiveMap:
        """The targets as a map of single layers."""
        return PositiveMap(self.pairs)

    def by_name(self, name: str, index: EntryIndex | None = None) -> Choice | None:
        """Return the scheme of the first target that fits the name."""
        hits = (index or self.index).hits(name)
        if hits.error is not None:
            return Choice(None, hits.error)
        return self._chosen(hits.places[0], name) if hits else None

    def by_class(self, names: tuple[str, ...]) -> Choice | None:
        """Return the scheme of the first target that is, or with ``contains`` lies in, one of the class names."""
        for name in names:
            if name not in self._by_class:
                self._by_class[name] = self._search(name)
            if (choice := self._by_class[name]) is not None:
                return choice
        return None

    def _search(self, name: str) -> Choice | None:
        for place, (item, _) in enumerate(self.pairs):
            try:
                if self._is_class(item.text, name):
                    return self._chosen(place, f"the class {name}")
            except RegexError as error:
                return Choice(None, f"the engine stops at {item.entry.where}, {item.entry.text!r}: {error.reason}")
        return None

    def _is_class(self, target: str, name: str) -> bool:
        if self._exact:
            return target == name
        if target.startswith("re:"):
            return compile_regex(target.removeprefix("re:")).match(name)
        return target.lower() in name.lower()

    def _chosen(self, place: int, what: str) -> Choice | None:
        item, group = self.pairs[place]
        # An empty target fits every class, but counts as no target at all (SGLang chains its three searches by `or`).
        return Choice(group, why=f"{item.entry.where}, {item.entry.text!r}, fits {what}") if item.text else None


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One name whose scheme is looked for.

    Attributes:
        name: The name.
        kind: The layer's kind.
        leaf: The last segment of the layer's own name, which its class follows from.
        record: The reading.
        targets: The schemes by target.
        groups: All schemes of the config.
        packed: The fused families that the model declares.
        question: The layer as it is put to the lists and rules.
        depth: How many fused families were opened on the way to this name.
    """

    name: str
    kind: str
    leaf: str
    record: Record
    targets: Targets
    groups: tuple[Group, ...]
    packed: Families
    question: Question
    depth: int = 0

    def at(self, name: str) -> Search:
        """Return the same search for one shard."""
        return replace(self, name=name, depth=self.depth + 1)

    def classes(self) -> tuple[str, ...]:
        """Return the class names that stand for the layer."""
        return class_names(self.record.classes, self.kind, self.leaf)


def find_scheme(search: Search) -> Choice | None:
    """Return the scheme of a name, or None when no step finds one."""
    plan = search.record.kinds[search.kind]
    for step in plan.steps:
        choice = _STEPS[step](search)
        if choice is not None:
            return _supported(choice, plan.unsupported)
    return None


def _supported(choice: Choice, unsupported: tuple[str, ...]) -> Choice:
    for trait in unsupported:
        if choice.group is not None and _TRAITS[trait](choice.group):
            return Choice(None, f"the scheme {choice.group.name!r} has {trait}, which the engine refuses here")
    return choice


def _by_shards(search: Search) -> Choice | None:
    family = next((family for family in search.packed if search.name.endswith(family)), None)
    if family is None:
        return None
    shards = [search.name.replace(family, shard) for shard in search.packed[family]]
    choices = [search.targets.by_name(shard) for shard in shards]
    broken = next((choice for choice in choices if choice is not None and choice.error), None)
    if broken is not None:
        return broken
    return choices[0] if choices and all(choice is not None for choice in choices) else None


def _shards_alike(search: Search) -> Choice | None:
    leaf = search.name.rpartition(".")[2]
    if leaf not in search.packed:
        return None
    if search.depth >= _MOST_NESTED or not search.packed[leaf]:
        return Choice(None, f"the fused family {leaf} has no members, or is a member of itself")
    choices = [find_scheme(search.at(search.name.replace(leaf, shard))) for shard in search.packed[leaf]]
    return _alike([choice for choice in choices if choice is not None], search.name)


def _alike(choices: list[Choice], name: str) -> Choice:
    for choice in choices:
        if choice.group is None or choices[0].group is None:
            return choice if choice.group is None else choices[0]
        if not same_scheme(choice.group.arguments, choices[0].group.arguments):
            schemes = " and ".join(sorted({repr(choices[0].group.name), repr(choice.group.name)}))
            return Choice(None, f"the members of {name} have different schemes: {schemes}")
    return choices[0]


def _below_experts(search: Search) -> Choice | None:
    if not search.name.endswith(".experts"):
        return None
    start = search.name + "."
    below = {
        item.text.removeprefix(start): group for item, group in search.targets.pairs if item.text.startswith(start)
    }
    if not below:
        return None
    fault = _expert_fault(list(below))
    if fault is not None:
        return Choice(None, f"the schemes below {search.name} {fault}")
    return _alike([Choice(group, why=f"{group.name!r} names an expert") for group in below.values()], search.name)


def _expert_fault(names: list[str]) -> str | None:
    projections: dict[int, set[str]] = {}
    for name in names:
        number, _, projection = name.partition(".")
        if not re.fullmatch(r"[0-9]{1,9}", number) or not projection:
            return f"have {name!r}, which is not <expert>.<projection>"
        projections.setdefault(int(number), set()).add(projection)
    if max(projections) + 1 != len(projections):
        return "skip some experts"
    first = next(iter(projections.values()))
    return None if all(one == first for one in projections.values()) else "name different projections per expert"


def _by_first_expert(search: Search) -> Choice | None:
    """Mirror where vLLM looks for experts that no key names (quark.py: _find_matched_config)."""
    leaves = ("down_proj", "gate_proj", "up_proj", "gate_up_proj")
    asked = (f"{search.name}{middle}.{leaf}" for leaf in leaves for middle in (".0", ""))
    return next((choice for one in asked if (choice := search.targets.by_name(one)) is not None), None)


def _by_type(search: Search) -> Choice | None:
    names = search.classes()
    found = [group for group in search.groups if group.role == "type" and group.name in names[:1]]
    return Choice(found[0], why=f"layer_type_quant_config has {found[0].name!r}") if found else None


def _global(search: Search) -> Choice | None:
    found = next((group for group in search.groups if group.role == "global"), None)
    return None if found is None else Choice(found, why="it is the scheme of all layers")


def _by_rule(search: Search) -> Choice | None:
    found = search.question.rules.first(search.name)
    if found is None or found.excludes:
        return None
    return Choice(found.group, found.error, f"{found.entry.where}, {found.entry.text!r}, fits {search.name}")


def _by_first_shard_rule(search: Search) -> Choice | None:
    families = search.record.families_of(search.name)
    shard = search.name.replace(search.leaf, families[search.leaf][0]) if search.leaf in families else search.name
    return _by_rule(search.at(shard))


def _by_settings(search: Search, *, explicit: bool) -> Choice:
    first = settings.settings(search.question, explicit=explicit)[0]
    if first.excludes:
        return Choice(None, why=f"{first.name} is not among what is quantized")
    return Choice(first.group, why=f"its settings are {first.values}")


def _by_expert_zero(search: Search) -> Choice:
    experts = settings.expert_zero(search.question)
    return Choice(experts.group, experts.error, why="the first expert has this scheme")


def _has_no_marlin_type(group: Group) -> bool:
    settings_of = group.arguments or {}
    return (settings_of.get("bits"), settings_of.get("sym")) not in MARLIN_TYPES


def _by_map(search: Search) -> Choice | None:
    found = search.targets.positive.find(search.name, search.packed)
    if found is None:
        return None
    return Choice(found.group, None if found.group else found.why, found.why)


_TRAITS: dict[str, Callable[[Group], bool]] = {
    "other-than-marlin": _has_no_marlin_type,
    "block-structure": lambda group: bool(group.quantizes and group.arguments[0]["block_structure"]),
}
_STEPS: dict[str, Callable[[Search], Choice | None]] = {
    "group-by-name": lambda search: search.targets.by_name(search.name),
    "group-by-listed-name": lambda search: search.targets.by_name(search.name, search.targets.as_listed),
    "group-by-class": lambda search: search.targets.by_class(search.classes()),
    "group-by-shards": _by_shards,
    "shards-alike": _shards_alike,
    "layer-by-pattern": lambda search: search.targets.by_name(search.name),
    "layers-below-experts": _below_experts,
    "layer-by-first-expert": _by_first_expert,
    "layer-by-type": _by_type,
    "global": _global,
    "positive-map": _by_map,
    "rule": _by_rule,
    "rule-of-first-shard": _by_first_shard_rule,
    "expert-zero": _by_expert_zero,
    "settings": lambda search: _by_settings(search, explicit=False),
    "settings-if-explicit": lambda search: _by_settings(search, explicit=True),
}
