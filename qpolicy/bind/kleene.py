"""Conditions in three-valued logic: true, false, and unknown (None)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.lang.tree import And, Condition, Fact, Not, Or

Truth: TypeAlias = bool | None
AskFact: TypeAlias = Callable[[Fact], Truth]


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return False if some truth is false, else None if some is unknown, else True."""
    unknown = False
    for truth in truths:
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def any_of(truths: Iterable[Truth]) -> Truth:
    """Return True if some truth is true, else None if some is unknown, else False."""
    return negated(all_of(negated(truth) for truth in truths))


def negated(truth: Truth) -> Truth:
    """Return the opposite; unknown stays unknown."""
    return None if truth is None else not truth


def evaluate(condition: Condition, ask: AskFact) -> Truth:
    """Return a condition's truth, asking only the facts that still matter."""
    match condition:
        case And(parts):
            return all_of(evaluate(part, ask) for part in parts)
        case Or(parts):
            return any_of(evaluate(part, ask) for part in parts)
        case Not(part):
            return negated(evaluate(part, ask))
        case _:
            return ask(condition)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a condition with its truth, for explanations.

    Attributes:
        node: The clause.
        truth: Its truth.
        parts: The clauses that it is made of; empty for a fact.
    """

    node: Condition
    truth: Truth
    parts: tuple[Clause, ...]

    def facts(self) -> Iterable[Clause]:
        """Iterate over the facts in it, in the order they are written."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.facts()


def trace(condition: Condition, ask: AskFact) -> Clause:
    """Return a condition with the truth of every clause, none left out."""
    match condition:
        case And(parts) | Or(parts):
            clauses = tuple(trace(part, ask) for part in parts)
            join = all_of if isinstance(condition, And) else any_of
            return Clause(condition, join(clause.truth for clause in clauses), clauses)
        case Not(part):
            clause = trace(part, ask)
            return Clause(condition, negated(clause.truth), (clause,))
        case _:
            return Clause(condition, ask(condition), ())
