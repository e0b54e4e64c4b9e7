"""Ways through the syntax tree that several readers share."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lang.tree import (
    About,
    And,
    Condition,
    Drop,
    Expect,
    Fact,
    Let,
    Not,
    Or,
    PathIn,
    Rule,
    Selector,
    Statement,
)


def condition_of(statement: Statement) -> Condition | None:
    """Return the condition of a rule or drop, or None."""
    return statement.condition if isinstance(statement, Rule | Drop) else None


def facts_of(condition: Condition | None) -> Iterator[Fact]:
    """Yield the facts of a condition from left to right."""
    if condition is None:
        return
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from facts_of(part)
    elif isinstance(condition, Not):
        yield from facts_of(condition.part)
    else:
        yield condition


def selectors_of(statement: Statement) -> Iterator[Selector]:
    """Yield every pattern and set reference of a statement in the order of the text, its condition included."""
    if isinstance(statement, Let | Rule):
        yield from statement.selectors
    elif isinstance(statement, Drop):
        yield statement.scope
    elif isinstance(statement, Expect):
        yield statement.selector
    for fact in facts_of(condition_of(statement)):
        if isinstance(fact, About):
            yield fact.selector
        elif isinstance(fact, PathIn):
            yield from fact.selectors
