"""Expressions over leaves that are true or false: how a set is put together from patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.paths.pattern import Pattern


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The names that some pattern matches."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """What lies in the left and in the right part."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """What lies in the left or in the right part."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """What does not lie in the part."""

    part: Expression


Expression: TypeAlias = Leaf | Both | Either | Other

Bounds: TypeAlias = tuple[bool, bool]
"""Whether something is surely true, and whether it may be: (False, True) is not known."""


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Returns what an expression is directly put together from."""
    match expression:
        case Leaf():
            return ()
        case Other(part):
            return (part,)
        case _:
            return (expression.left, expression.right)


class Program:
    """An expression laid out so that it is evaluated in one pass, however deep it is and whatever its parts share.

    Attributes:
        leaves: Its leaves, each once.
        size: How many steps an evaluation takes.
    """

    def __init__(self, expression: Expression) -> None:
        self._order = _inside_out(expression)
        self.leaves = [each for each in self._order if isinstance(each, Leaf)]
        self.size = len(self._order)
        places = {id(each): place for place, each in enumerate(self._order)}
        self._parts = [tuple(places[id(part)] for part in parts(each)) for each in self._order]

    def evaluate(self, leaves: Sequence[Bounds]) -> Bounds:
        """Returns what the expression is when its leaves are as given, in the order of `leaves`."""
        given = iter(leaves)
        values: list[Bounds] = []
        for each, below in zip(self._order, self._parts, strict=True):
            match each:
                case Leaf():
                    values.append(next(given))
                case Other():
                    sure, maybe = values[below[0]]
                    values.append((not maybe, not sure))
                case Both():
                    left, right = values[below[0]], values[below[1]]
                    values.append((left[0] and right[0], left[1] and right[1]))
                case Either():
                    left, right = values[below[0]], values[below[1]]
                    values.append((left[0] or right[0], left[1] or right[1]))
        return values[-1]


def _inside_out(expression: Expression) -> list[Expression]:
    """Lists an expression and all below it, each once, parts before what they are part of."""
    order: list[Expression] = []
    seen: set[int] = set()
    stack: list[tuple[Expression, bool]] = [(expression, False)]
    while stack:
        each, ready = stack.pop()
        if ready:
            order.append(each)
        elif id(each) not in seen:
            seen.add(id(each))
            stack.append((each, True))
            stack.extend((part, False) for part in parts(each))
    return order
