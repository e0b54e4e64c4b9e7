"""Conditions as formulas over variables, in three-valued logic.

What a formula may be is a set of truths, written as bits, so that one that is known only in part can be judged too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from qpolicy.analysis.variables import Given, Value, Variable

FALSE, UNKNOWN, TRUE = 1, 2, 4
NOT_TRUE = FALSE | UNKNOWN
NOT_FALSE = TRUE | UNKNOWN

_FLIPPED = {mask: mask & UNKNOWN | mask >> 2 | (mask & FALSE) << 2 for mask in range(8)}


@dataclass(frozen=True, slots=True)
class Known:
    """What is settled: true or false."""

    truth: bool


@dataclass(frozen=True, slots=True)
class Path:
    """Whether the module goes by a name that a group of patterns catches.

    Attributes:
        group: The group's id.
    """

    group: int


@dataclass(frozen=True, slots=True)
class Atom:
    """True for some values of a variable, unknown for others, and else false."""

    variable: Variable
    true: frozenset[Value]
    unknown: frozenset[Value] = frozenset([None])

    def mask(self, value: Value) -> int:
        """Return what it is for one value."""
        if value in self.true:
            return TRUE
        return UNKNOWN if value in self.unknown else FALSE


@dataclass(frozen=True, slots=True)
class Inverse:
    """True where its part is false."""

    part: Formula


@dataclass(frozen=True, slots=True)
class All:
    """True where every part is."""

    parts: tuple[Formula, ...]
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size, self.parts)))


@dataclass(frozen=True, slots=True)
class Any:
    """True where some part is."""

    parts: tuple[Formula, ...]
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size, self.parts)))


Formula: TypeAlias = Known | Path | Atom | Inverse | All | Any

YES, NO = Known(True), Known(False)


def size(formula: Formula) -> int:
    """Return how many nodes a formula has."""
    match formula:
        case All() | Any():
            return formula.size
        case Inverse(part):
            return 1 + size(part)
    return 1


def possible(formula: Formula, given: Given) -> int:
    """Return the truths that a formula without names may have; some that it cannot have may be among them.

    With a value for every variable it is exact.
    """
    match formula:
        case Atom(variable):
            if variable in given:
                return formula.mask(given[variable])
            return union(formula.mask(value) for value in variable.domain(given))
        case Inverse(part):
            return _FLIPPED[possible(part, given)]
        case All(parts):
            return least(possible(part, given) for part in parts)
        case Any(parts):
            return _FLIPPED[least(_FLIPPED[possible(part, given)] for part in parts)]
        case Known(truth):
            return TRUE if truth else FALSE
    raise AssertionError(f"{formula} speaks of names")


def union(masks: Iterable[int]) -> int:
    """Return every truth that is in some of these sets."""
    found = 0
    for mask in masks:
        found |= mask
    return found


def least(masks: Iterable[int]) -> int:
    """Return what the least of some truths may be, false being less than unknown and that less than true."""
    some, all_true, none_false = 0, True, True
    for mask in masks:
        if mask == FALSE:
            return FALSE
        some |= mask
        all_true &= bool(mask & TRUE)
        none_false &= bool(mask & NOT_FALSE)
    return some & FALSE | (some & UNKNOWN if none_false else 0) | (TRUE if all_true else 0)


def open_variable(formula: Formula, given: Given) -> Variable | None:
    """Return a variable on which it still depends what a formula is; None when it is settled."""
    match formula:
        case Atom(variable):
            return None if variable in given else _first_open(variable, given)
        case Inverse(part):
            return open_variable(part, given)
        case All(parts) | Any(parts):
            still = (part for part in parts if possible(part, given) not in (FALSE, UNKNOWN, TRUE))
            return next((open_variable(part, given) for part in still), None)
    return None


def _first_open(variable: Variable, given: Given) -> Variable:
    above = next((parent for parent in variable.parents if parent not in given), None)
    return variable if above is None else _first_open(above, given)


def without_names(formula: Formula, caught: frozenset[int]) -> Formula:
    """Return what is left of a formula for a module whose names these groups, and no others, catch."""
    match formula:
        case Path(group):
            return YES if group in caught else NO
        case Inverse(part):
            return inverse(without_names(part, caught))
        case All(parts):
            return every(without_names(part, caught) for part in parts)
        case Any(parts):
            return some(without_names(part, caught) for part in parts)
    return formula


def inverse(part: Formula) -> Formula:
    """Return the opposite, as simple as it goes."""
    match part:
        case Known(truth):
            return NO if truth else YES
        case Inverse(inner):
            return inner
    return Inverse(part)


def every(parts: Iterable[Formula]) -> Formula:
    """Return the conjunction, as simple as it goes."""
    left = [part for part in parts if part != YES]
    if NO in left:
        return NO
    if len(left) == 1:
        return left[0]
    return All(tuple(left)) if left else YES


def some(parts: Iterable[Formula]) -> Formula:
    """Return the disjunction, as simple as it goes."""
    left = [part for part in parts if part != NO]
    if YES in left:
        return YES
    if len(left) == 1:
        return left[0]
    return Any(tuple(left)) if left else NO


def groups_of(formula: Formula) -> Iterator[int]:
    """Yield the groups that a formula asks about."""
    match formula:
        case Path(group):
            yield group
        case Inverse(part):
            yield from groups_of(part)
        case All(parts) | Any(parts):
            for part in parts:
                yield from groups_of(part)


def any_name(formula: Formula) -> Formula:
    """Return the formula for a module of which the names are not known, as if each group caught it or not."""
    match formula:
        case Path(group):
            return Atom(_caught(group), frozenset([True]))
        case Inverse(part):
            return inverse(any_name(part))
        case All(parts):
            return every(map(any_name, parts))
        case Any(parts):
            return some(map(any_name, parts))
    return formula


@cache
def _caught(group: int) -> Variable:
    return Variable(f"group {group}", (True, False), lambda value: "")
