"""What was meant by a pattern that matches nothing: one change after which it matches names that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest

from qpolicy.paths.names import Fitting, Fork, NameTree
from qpolicy.paths.parser import MAX_SEGMENTS
from qpolicy.paths.pattern import Pattern
from qpolicy.paths.segments import (
    Element,
    Globs,
    Integers,
    Spellings,
    Wildcard,
    Word,
    is_canonical,
    is_quotable,
    is_spelling,
    merged,
)

_MAX_COMPARED = 500
_MAX_SPELLINGS = 8
_MAX_LENGTH = 64
_ALIKE = 0.5
"""Less alike segments are suggested only when there is nothing better, and then only one."""

_SURE = 0.9
"""How alike a change counts that is no other segment: above all but a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change to a pattern.

    Attributes:
        segment_index: Which of the pattern's segments to change.
        written: That segment as it is written.
        instead: What to write there.
        replaced: The whole pattern after the change.
        count: How many of the names it then matches; 0 when more than this one segment is wrong.
    """

    segment_index: int
    written: str
    instead: str
    replaced: Pattern
    count: int

    @property
    def text(self) -> str:
        """One line for people, such as ``with `gate` for `gates` it matches 58 names``."""
        names = "1 name" if self.count == 1 else f"{self.count:,} names"
        if self.count:
            return f"with `{self.instead}` for `{self.written}` it matches {names}"
        return f"nothing fits `{self.written}`; the nearest name there is `{self.instead}`"


def suggest(pattern: Pattern, names: Iterable[str] | NameTree, limit: int = 3) -> tuple[Suggestion, ...]:
    """Suggests what a pattern that matches none of many names was meant to be.

    Args:
        pattern: The pattern.
        names: The names; a `NameTree` of them when more than one pattern is asked.
        limit: How many suggestions to return at most.

    Returns:
        The best first; none for a pattern that matches a name. The changes are: another segment, which exists, for one
        that does not; ``**.`` before the pattern; and ``.**`` behind it. When no such change is enough, one suggestion
        with a count of 0: the nearest segment at the place beyond which the pattern finds nothing.
    """
    tree = names if isinstance(names, NameTree) else NameTree(names)
    reach = _Reach(pattern, tree)
    if reach.matched:
        return ()
    found = [*_extended(pattern, tree), *_replaced(pattern, tree, reach.enough(), limit)]
    if not found:
        found = list(_replaced(pattern, tree, reach.deepest(), 1))
    found.sort(key=lambda each: (-each[0], -each[1].count))
    alike = [each for each in found if each[0] >= _ALIKE] or found[:1]
    return tuple(suggestion for _, suggestion in alike[:limit])


class _Reach:
    """How far a pattern comes among the names, from either end.

    Attributes:
        matched: Whether it matches a name.
    """

    def __init__(self, pattern: Pattern, tree: NameTree) -> None:
        self._pattern = pattern
        self._tree = tree
        self._fitting = Fitting(pattern)
        self._before = self._forwards()
        self._behind = self._backwards()
        self.matched = bool(self._behind[tree.forks[0]] & 1)

    def enough(self) -> Iterator[tuple[int, str]]:
        """Yields the segments with which the pattern would match, each with the place of the one it would replace."""
        for fork in self._tree.forks:
            for segment, following in fork.next.items():
                places = self._before[fork] & self._behind[following] >> 1 & ~self._fitting[segment]
                yield from ((place, segment) for place in _places(places))

    def deepest(self) -> Iterator[tuple[int, str]]:
        """Yields the segments that exist at the last place that the pattern reaches, which is not its end."""
        reached = max(before & ~self._pattern.end for before in self._before.values())
        place = reached.bit_length() - 1
        for fork, before in self._before.items():
            if before >> place & 1:
                yield from ((place, segment) for segment in fork.next)

    def _forwards(self) -> dict[Fork, int]:
        reached = dict.fromkeys(self._tree.forks, 0)
        reached[self._tree.forks[0]] = self._pattern.start
        for fork in self._tree.forks:
            for segment, following in fork.next.items():
                reached[following] |= self._pattern.after(reached[fork] & self._fitting[segment])
        return reached

    def _backwards(self) -> dict[Fork, int]:
        """Returns, for each fork, the places in the pattern whose rest matches a rest of a name."""
        reached: dict[Fork, int] = {}
        for fork in reversed(self._tree.forks):
            places = self._pattern.end if fork.ends else 0
            for segment, following in fork.next.items():
                behind = reached[following]
                places |= (behind >> 1 | behind & self._pattern.repeated) & self._fitting[segment]
            reached[fork] = self._skipped(places)
        return reached

    def _skipped(self, places: int) -> int:
        skipped = places
        while skipped := skipped >> 1 & self._pattern.optional & ~places:
            places |= skipped
        return places


def _extended(pattern: Pattern, tree: NameTree) -> Iterator[tuple[float, Suggestion]]:
    """Yields the suggestions of a ``**`` before and behind the pattern."""
    elements, last = pattern.elements, len(pattern.elements) - 1
    if last + 1 == MAX_SEGMENTS:
        return
    before, behind = Pattern((Wildcard.REST, *elements)), Pattern((*elements, Wildcard.REST))
    for place, replaced, instead in ((0, before, f"**.{elements[0]}"), (last, behind, f"{elements[last]}.**")):
        if count := tree.count(replaced):
            yield _SURE, Suggestion(place, str(elements[place]), instead, replaced, count)


def _replaced(
    pattern: Pattern, tree: NameTree, candidates: Iterable[tuple[int, str]], limit: int
) -> Iterator[tuple[float, Suggestion]]:
    """Yields the suggestions of another segment, for each place the nearest ones."""
    for place, segments in _by_place(candidates).items():
        written = pattern.elements[place]
        for alike, instead in _nearest(written, segments, limit):
            elements = (*pattern.elements[:place], instead, *pattern.elements[place + 1 :])
            replaced = Pattern(elements)
            yield alike, Suggestion(place, str(written), str(instead), replaced, tree.count(replaced))


def _by_place(candidates: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    places: dict[int, dict[str, None]] = {}
    for place, segment in candidates:
        segments = places.setdefault(place, {})
        if len(segments) < _MAX_COMPARED and len(segment) <= _MAX_LENGTH and all(map(is_quotable, segment)):
            segments[segment] = None
    return {place: list(segments) for place, segments in places.items() if segments}


def _nearest(written: Element, segments: list[str], limit: int) -> list[tuple[float, Element]]:
    """Returns elements made of real segments in place of a written one, most alike first, each with its likeness."""
    integers = [(int(segment), int(segment)) for segment in segments if is_canonical(segment) and len(segment) < 10]
    if isinstance(written, Integers) and integers:
        return [(_SURE, Integers(merged(integers)))]
    spellings = _spellings(written)
    alike = {segment: _likeness(spellings, segment) for segment in segments}
    nearest = {max(segments, key=lambda segment: _likeness([each], segment)): None for each in spellings}
    together = tuple(segment for segment in nearest if alike[segment] >= _ALIKE and is_spelling(segment))
    if len(together) > 1:
        return [(min(alike[segment] for segment in together), Spellings((together,)))]
    return [(alike[segment], Word(segment)) for segment in nlargest(limit, segments, key=alike.__getitem__)]


def _spellings(written: Element) -> list[str]:
    match written:
        case Word() | Spellings():
            return list(written.words[:_MAX_SPELLINGS])
        case Globs():
            return ["".join(texts) for texts in written.texts[:_MAX_SPELLINGS]]
        case _:
            return [str(written)]


def _likeness(spellings: list[str], segment: str) -> float:
    return max(SequenceMatcher(None, segment, spelling[:_MAX_LENGTH]).ratio() for spelling in spellings)


def _places(places: int) -> Iterator[int]:
    while places:
        yield (places & -places).bit_length() - 1
        places &= places - 1
