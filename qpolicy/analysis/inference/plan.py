"""What the policy will say, before it is written: rules in order, and what holds for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from qpolicy.analysis.inference.cover import cover
from qpolicy.analysis.inference.evidence import State
from qpolicy.analysis.inference.groups import GROUPS, group_of, groups_in
from qpolicy.analysis.inference.refused import Refused
from qpolicy.analysis.inference.shapes import REST, literal, spelled
from qpolicy.checkpoint import Checkpoint, draft_patterns
from qpolicy.lang.tree import Action
from qpolicy.paths import Pattern, PatternIndex

DRAFT = "mtp"
"""The set that the language itself knows."""


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """One rule.

    Attributes:
        patterns: What it matches, as texts of the language.
        decision: ``unquantized`` or ``quantized``.
        set: The name of the set that holds the patterns, or None for a rule that has them itself.
    """

    patterns: tuple[str, ...]
    decision: State
    set: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A policy that is not yet text.

    Attributes:
        rules: The rules, in order.
        otherwise: What holds for every other layer.
        drop: The condition under which the draft is dropped, or None.
    """

    rules: tuple[PlannedRule, ...]
    otherwise: Action
    drop: str | None = None

    @property
    def length(self) -> int:
        """How many patterns it takes."""
        return sum(len(rule.patterns) if rule.set != DRAFT else 1 for rule in self.rules)

    def index(self) -> PatternIndex:
        """Return the automaton that finds the rules that match a name, by position."""
        return PatternIndex([[Pattern.parse(text) for text in rule.patterns] for rule in self.rules])


def name_plain(checkpoint: Checkpoint, plain: Sequence[str], refused: Refused) -> tuple[PlannedRule, ...]:
    """Return rules that name the plain modules: heads, groups that every reader knows, the draft, then the rest.

    Args:
        checkpoint: The checkpoint, which says what a head and what the draft is.
        plain: The modules to name.
        refused: The modules that no rule may match.
    """
    parts = _parts(checkpoint, plain, refused.modules)
    rules = [rule for part, names in parts for rule in _rules(checkpoint, part, names, refused)]
    return _needed(rules, refused.units(plain))


def name_quantized(quantized: Iterable[str], refused: Refused) -> tuple[PlannedRule, ...]:
    """Return rules that name quantized modules, one for each pattern."""
    return _each(quantized, refused, "quantized")


def _parts(checkpoint: Checkpoint, plain: Sequence[str], refused: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Sort the modules; a group of which some modules are refused is no group, its name would say too much."""
    refusing = groups_in(refused)
    whole_draft = not any(map(checkpoint.is_draft_name, refused))
    sorted_: dict[str, list[str]] = {part: [] for part in ("head", *(group.name for group in GROUPS), DRAFT, "rest")}
    for name in plain:
        sorted_[_part(checkpoint, name, refusing, whole_draft)].append(name)
    return ((part, names) for part, names in sorted_.items() if names)


def _part(checkpoint: Checkpoint, name: str, refusing: Set[str], whole_draft: bool) -> str:
    if whole_draft and checkpoint.is_draft_name(name):
        return DRAFT
    if checkpoint.modules[name].kind == "lm_head":
        return "head"
    group = group_of(name)
    return "rest" if group is None or group.name in refusing else group.name


def _rules(checkpoint: Checkpoint, part: str, names: Sequence[str], refused: Refused) -> tuple[PlannedRule, ...]:
    if part == DRAFT:
        return (PlannedRule(draft_patterns(checkpoint), "unquantized", DRAFT),)
    if part == "rest":
        return _each(names, refused, "unquantized")
    return (PlannedRule(_patterns(part, names, refused), "unquantized", None if part == "head" else part),)


def _patterns(part: str, names: Sequence[str], refused: Refused) -> tuple[str, ...]:
    """Return the patterns of one part: the roots of a tower, since all of it is plain, else what covers the names."""
    root = next((group.root for group in GROUPS if group.name == part), None)
    shapes = (
        cover(names, refused) if root is None else [(*literal(one), REST) for one in dict.fromkeys(map(root, names))]
    )
    return tuple(map(spelled, shapes))


def _each(names: Iterable[str], refused: Refused, decision: State) -> tuple[PlannedRule, ...]:
    return tuple(PlannedRule((spelled(shape),), decision) for shape in cover(names, refused))


def _needed(rules: Sequence[PlannedRule], names: Iterable[str]) -> tuple[PlannedRule, ...]:
    """Leave out rules all of whose modules the others match too."""
    index = Plan(tuple(rules), "native").index()
    matched = [set(index.matches(name)) for name in names]
    kept = list(range(len(rules)))
    for position in range(len(rules)):
        if all(found - {position} for found in matched if position in found):
            kept.remove(position)
            matched = [found - {position} for found in matched]
    return tuple(rules[position] for position in kept)
