"""Puts patterns that differ in one segment together: ``{q,k,v}_proj``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qpolicy.analysis.inference.shapes import MOST_CHARACTERS, MOST_WORDS, Segment, Shape, Words
from qpolicy.paths.segments import is_spelling

_ORDER = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_USUAL = {word: place for place, word in enumerate(_ORDER)}


def merged(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """Return patterns that match the same names together, as few as braces can make them.

    Segments are tried from the last to the first, so that spellings of a module are put together before those of its
    parents.
    """
    longest = max(map(len, shapes), default=0)
    for back in range(1, longest + 1):
        shapes = _merged_at(shapes, back)
    return tuple(shapes)


def _merged_at(shapes: Sequence[Shape], back: int) -> list[Shape]:
    """Merge those that are alike but for the segment at this place, counted from the end."""
    alike: dict[object, list[Shape]] = {}
    for shape in shapes:
        key = ("around", _around(shape, back)) if _can_merge(shape, back) else ("whole", shape)
        alike.setdefault(key, []).append(shape)
    found: list[Shape] = []
    for group in alike.values():
        found += _joined(group, back) if len(group) > 1 else group
    return found


def _can_merge(shape: Shape, back: int) -> bool:
    if len(shape) < max(back, 2):
        return False
    segment = shape[-back]
    return isinstance(segment, Words) and all(map(is_spelling, segment.words))


def _around(shape: Shape, back: int) -> tuple[Shape, Shape]:
    at = len(shape) - back
    return shape[:at], shape[at + 1 :]


def _joined(group: Sequence[Shape], back: int) -> list[Shape]:
    before, after = _around(group[0], back)
    found = dict.fromkeys(word for shape in group for word in _words(shape[-back]))
    words = sorted(found, key=lambda word: _USUAL.get(word, len(_USUAL)))
    return [(*before, Words(row), *after) for row in _rows(words)]


def _rows(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words in rows that are short enough for one pair of braces."""
    row: list[str] = []
    for word in words:
        if row and (len(row) == MOST_WORDS or len(word) + sum(map(len, row)) > MOST_CHARACTERS):
            yield tuple(row)
            row = []
        row.append(word)
    yield tuple(row)


def _words(segment: Segment) -> tuple[str, ...]:
    assert isinstance(segment, Words)
    return segment.words
