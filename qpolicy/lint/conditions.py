"""Looks inside conditions."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lang.tree import And, Condition, Fact, Not, Or


def facts_of(condition: Condition) -> Iterator[Fact]:
    """Iterate over the facts in a condition, in the order they are written."""
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from facts_of(part)
        case Not(part):
            yield from facts_of(part)
        case _:
            yield condition
