"""Why a name does not match: the alignment of pattern and name that differs least, and where it first differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nsmallest
from typing import NamedTuple

from qpolicy.paths.errors import shown
from qpolicy.paths.pattern import Pattern
from qpolicy.paths.segments import Element, Wildcard

MAX_SEGMENTS = 256
"""A longer name is compared by its first so many segments only."""

END = "end of name"
"""What `Miss.expected` says when the name should have ended."""

_DIFFERENCE = 1000
_SPOKEN = {"?": "one more segment", "*": "one or more segments"}


@dataclass(frozen=True, slots=True)
class Miss:
    """How close a name came to a pattern that does not match it.

    Attributes:
        pattern: The pattern.
        name: The name.
        matched: How many of the name's segments fit.
        index: The name's first segment that does not fit; the number of its segments when the name ends too early.
        expected: The pattern's segment there, as it is written, or `END`.
        found: The name's segment there, or None when the name ends.
        differences: How many segments would have to be replaced, added or removed; at least one.
    """

    pattern: Pattern
    name: str
    matched: int
    index: int
    expected: str
    found: str | None
    differences: int

    @property
    def text(self) -> str:
        """One line for people, such as ``matched 4 of 5 segments; expected `gate`, found `gate_proj```."""
        total = len(_split(self.name))
        counted = f"matched {self.matched} of {total} segment{'' if total == 1 else 's'}"
        expected = _SPOKEN.get(self.expected, f"`{self.expected}`")
        if self.found is None:
            return f"{counted}; the name ends where the pattern goes on with {expected}"
        found = f"`{shown(self.found)}`" if self.found else "an empty segment"
        if self.expected == END:
            return f"{counted}; the pattern ends where the name goes on with {found}"
        return f"{counted}; expected {expected}, found {found}"

    @property
    def likeness(self) -> float:
        """How alike the expected and the found segment are, from 0 to 1."""
        return SequenceMatcher(None, self.expected, (self.found or "")[:MAX_SEGMENTS]).ratio()


def nearest_miss(pattern: Pattern, name: str) -> Miss | None:
    """Aligns a name with a pattern; None when the pattern matches.

    The alignment is one with the fewest segments to replace, add or remove; of several, the one in which the fewest
    segments fit only a wildcard.
    """
    if pattern.matches(name):
        return None
    segments = _split(name)[:MAX_SEGMENTS]
    steps = _best_steps(pattern.elements, segments)
    return _first_difference(pattern, name, segments, steps)


def nearest_misses(patterns: Iterable[Pattern], name: str, limit: int = 3) -> tuple[Miss, ...]:
    """Returns the misses of the patterns that came closest, the closest first; patterns that match have none."""
    misses = (miss for pattern in patterns if (miss := nearest_miss(pattern, name)) is not None)
    return tuple(nsmallest(limit, misses, key=lambda miss: (miss.differences, -miss.matched, -miss.likeness)))


class _Step(NamedTuple):
    """One step of an alignment; the best of several is the smallest.

    Attributes:
        cost: What the alignment costs from here to the end.
        differs: Whether this step is a difference.
        row: Where it leads to in the pattern.
        place: Where it leads to in the name.
    """

    cost: int
    differs: bool
    row: int
    place: int


_DONE = _Step(0, False, 0, 0)


def _split(name: str) -> list[str]:
    return name.split(".") if name else []


def _best_steps(elements: tuple[Element, ...], segments: list[str]) -> list[list[_Step]]:
    """Returns the best next step from each place in the pattern and in the name."""
    rows, places = len(elements), len(segments)
    steps = [[_DONE] * (places + 1) for _ in range(rows + 1)]
    for place in range(places):
        steps[rows][place] = _Step(_DIFFERENCE * (places - place), True, rows, place + 1)
    for row in reversed(range(rows)):
        for place in reversed(range(places + 1)):
            segment = segments[place] if place < places else None
            steps[row][place] = min(_steps(elements[row], segment, steps, row, place))
    return steps


def _steps(element: Element, segment: str | None, steps: list[list[_Step]], row: int, place: int) -> Iterator[_Step]:
    optional = element is Wildcard.REST
    yield _Step(steps[row + 1][place].cost + (0 if optional else _DIFFERENCE), not optional, row + 1, place)
    if segment is None:
        return
    if segment and element.matches(segment):
        price = 1 if isinstance(element, Wildcard) else 0
        yield _Step(steps[row + 1][place + 1].cost + price, False, row + 1, place + 1)
        if optional or element is Wildcard.SOME:
            yield _Step(steps[row][place + 1].cost + price, False, row, place + 1)
    else:
        yield _Step(steps[row + 1][place + 1].cost + _DIFFERENCE, True, row + 1, place + 1)
    yield _Step(steps[row][place + 1].cost + _DIFFERENCE, True, row, place + 1)


def _first_difference(pattern: Pattern, name: str, segments: list[str], steps: list[list[_Step]]) -> Miss:
    rows, places = len(pattern.elements), len(segments)
    row = place = matched = 0
    first: tuple[int, int] | None = None
    while row < rows or place < places:
        step = steps[row][place]
        if not step.differs:
            matched += step.place - place
        elif first is None:
            first = (row, place)
        row, place = step.row, step.place
    # None is left only for a text without segments, which `**` would fit, and for a name that was cut.
    row, index = first or ((0, 0) if not segments else (rows, places))
    whole = _split(name)
    found = whole[index] if index < len(whole) else None
    expected = str(pattern.elements[row]) if row < rows else END
    return Miss(pattern, name, matched, index, expected, found, max(steps[0][0].cost // _DIFFERENCE, 1))
