"""Which layer and expert numbers a pattern names: as few ranges as the numbers on disk allow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.analysis.inference.shapes import ANY_NUMBER, Numbers

MOST_RANGES = 64
"""How many ranges of integers one segment of a pattern spells."""

Place: TypeAlias = tuple[int, ...]
"""The numbers in one module's name, in order."""


@dataclass(frozen=True, slots=True)
class Box:
    """A set of integers for each number of a name.

    Attributes:
        numbers: One set for each number.
        places: The wanted places that lie inside.
    """

    numbers: tuple[Numbers, ...]
    places: frozenset[Place]


def numbers_for(wanted: Collection[int], refused: Set[int]) -> Numbers:
    """Return the integers to write for these.

    One number stands as it is. Where nothing is refused every integer will do: all that are on disk agree. Otherwise
    ranges name the wanted ones; a range may run over numbers that are not on disk, never over a refused one.

    Args:
        wanted: The numbers to name, at least one.
        refused: Numbers that must not be named.
    """
    if len(set(wanted)) == 1:
        (only,) = set(wanted)
        return Numbers(((only, only),))
    return Numbers(_ranges(wanted, refused)) if refused else ANY_NUMBER


def boxes(wanted: Set[Place], refused: Set[Place]) -> list[Box]:
    """Return boxes that hold all wanted places and no refused one.

    Args:
        wanted: Places of equal length; at least one.
        refused: Places of the same length.
    """
    if not next(iter(wanted)):
        return [Box((), frozenset(wanted))]
    single = _told_apart_by_one(wanted, refused)
    found = [single] if single else _by_first(wanted, refused)
    return [part for box in found for part in _short(box)]


def _short(box: Box) -> list[Box]:
    """Split a box where it takes more ranges for one number than a pattern should spell."""
    for at, one in enumerate(box.numbers):
        if len(one.ranges) > MOST_RANGES:
            rows = (one.ranges[start : start + MOST_RANGES] for start in range(0, len(one.ranges), MOST_RANGES))
            return [part for row in rows for part in _short(_within(box, at, Numbers(row)))]
    return [box]


def _within(box: Box, at: int, part: Numbers) -> Box:
    """Return what of a box has one of these integers in one place."""
    first, last = part.ranges[0][0], part.ranges[-1][1]
    assert last is not None
    places = frozenset(place for place in box.places if first <= place[at] <= last)
    return Box((*box.numbers[:at], part, *box.numbers[at + 1 :]), places)


def _told_apart_by_one(wanted: Set[Place], refused: Set[Place]) -> Box | None:
    """The one box that suffices where a single number tells wanted from refused, or nothing is refused."""
    columns = [set(column) for column in zip(*wanted, strict=True)]
    others = [set(column) for column in zip(*refused, strict=True)] or [set[int]() for _ in columns]
    for index, (column, other) in enumerate(zip(columns, others, strict=True)):
        if not column & other:
            numbers = (numbers_for(one, other if at == index else frozenset()) for at, one in enumerate(columns))
            return Box(tuple(numbers), frozenset(wanted))
    return None


def _by_first(wanted: Set[Place], refused: Set[Place]) -> list[Box]:
    """Split by the first number, and put together those numbers whose rests come out alike."""
    firsts = {place[0] for place in wanted}
    present = firsts | {place[0] for place in refused}
    alike: dict[tuple[Numbers, ...], list[tuple[int, Box]]] = {}
    inside, outside = _rests(wanted), _rests(refused)
    for first in sorted(firsts):
        for box in boxes(inside[first], outside.get(first, frozenset())):
            alike.setdefault(box.numbers, []).append((first, box))
    return [_joined(found, present) for found in alike.values()]


def _joined(found: list[tuple[int, Box]], present: Set[int]) -> Box:
    firsts = [first for first, _ in found]
    places = frozenset((first, *place) for first, box in found for place in box.places)
    head = numbers_for(firsts, present - set(firsts))
    return Box((head, *found[0][1].numbers), places)


def _rests(places: Iterable[Place]) -> dict[int, set[Place]]:
    by_first: dict[int, set[Place]] = {}
    for place in places:
        by_first.setdefault(place[0], set()).add(place[1:])
    return by_first


def _ranges(wanted: Collection[int], refused: Set[int]) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    open_ = False
    for number in sorted({*wanted, *refused}):
        if number in refused:
            open_ = False
        elif open_:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
            open_ = True
    return tuple(found)
