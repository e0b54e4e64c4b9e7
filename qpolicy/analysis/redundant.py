"""Patterns that add nothing to the list that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qpolicy.analysis.limits import Limits
from qpolicy.analysis.translate import Names, Selections
from qpolicy.bind import Policy
from qpolicy.lang.tree import Let, PathIn, Rule, Selector, Statement
from qpolicy.lang.walk import condition_of, facts_of
from qpolicy.paths import Pattern, PatternIndex, Undecided
from qpolicy.paths.budget import Budget
from qpolicy.paths.expression import Both, Leaf, Other
from qpolicy.paths.search import shortest


@dataclass(frozen=True, slots=True)
class Repeat:
    """A pattern or set whose names all belong to another one of the same list.

    Attributes:
        statement: The rule or ``let``.
        listed: The list.
        inner: What adds nothing.
        outer: What holds all its names.
        same: Whether both hold the same names.
    """

    statement: Statement
    listed: tuple[Selector, ...]
    inner: Selector
    outer: Selector
    same: bool


@dataclass(frozen=True, slots=True)
class Repeats:
    """What was found.

    Attributes:
        found: The patterns that add nothing, in order; of two that are the same, the later one.
        unsure: The statements of which not every pair of patterns could be compared.
        budget: The budget that was spent, in words; empty if none was.
    """

    found: tuple[Repeat, ...]
    unsure: tuple[Statement, ...] = ()
    budget: str = ""


def repeats(policy: Policy, limits: Limits | None = None) -> Repeats:
    """Compare every pattern and set with the others of its list: of a rule, of a ``let``, or behind ``path in``."""
    limits = limits or Limits()
    budget = Budget(limits.states, limits.names_work)
    selections = Selections(policy.document)
    found: list[Repeat] = []
    unsure: list[Statement] = []
    spent = ""
    for statement in policy.document.statements:
        for listed in _lists(statement):
            try:
                found += _List(selections, listed, budget).repeats(statement)
            except Undecided as error:
                unsure.append(statement)
                spent = error.budget
    return Repeats(tuple(found), tuple(unsure), spent)


def _lists(statement: Statement) -> Iterator[tuple[Selector, ...]]:
    if isinstance(statement, Let | Rule):
        yield statement.selectors
    for fact in facts_of(condition_of(statement)):
        if isinstance(fact, PathIn):
            yield fact.selectors


class _List:
    def __init__(self, selections: Selections, listed: tuple[Selector, ...], budget: Budget) -> None:
        self._listed = listed if len(listed) > 1 else ()
        self._names = [selections.names([one]) for one in self._listed]
        self._index = PatternIndex([(*one.spelled, *one.numbered) for one in self._names])
        self._budget = budget

    def repeats(self, statement: Statement) -> list[Repeat]:
        gone: set[int] = set()
        found = []
        for inner in reversed(range(len(self._listed))):
            for outer in self._candidates(inner):
                if outer in gone or outer == inner or not self._within(inner, outer):
                    continue
                gone.add(inner)
                same = self._within(outer, inner)
                found.append(Repeat(statement, self._listed, self._listed[inner], self._listed[outer], same))
                break
        return found[::-1]

    def _candidates(self, inner: int) -> tuple[int, ...]:
        """Return the entries that hold at least one name of this one."""
        first = (*self._names[inner].spelled, *self._names[inner].numbered)[0]
        name = shortest(Leaf((first,)), self._budget)
        return self._index.matches(name) if name is not None else ()

    def _within(self, inner: int, outer: int) -> bool:
        small, large = self._names[inner], self._names[outer]
        return self._covered(small.spelled, large.spelled) and self._covered(small.numbered, _all(large))

    def _covered(self, small: tuple[Pattern, ...], large: tuple[Pattern, ...]) -> bool:
        self._budget.spend(1)
        return not small or shortest(Both(Leaf(small), Other(Leaf(large))), self._budget) is None


def _all(names: Names) -> tuple[Pattern, ...]:
    return (*names.spelled, *names.numbered)
