"""Patterns that differ in one segment, as one: spellings go into braces, numbers into ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qpolicy.analysis.inference.shapes import MOST_CHARACTERS, MOST_WORDS, braced
from qpolicy.lang.words import RESERVED
from qpolicy.paths import Pattern
from qpolicy.paths.segments import is_bare, is_spelling

_INTEGER = re.compile(r"0|[1-9][0-9]{0,17}")
_NEVER_ALONE = frozenset({*RESERVED, "mtp"})
MOST_RANGES = 64


def folded(patterns: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return patterns that together match the same names, written as text.

    Segments are tried from the last to the first, so that spellings of a module come together before those of its
    parents.

    Args:
        patterns: The segments of each; only plain segments are put together.
    """
    rows = list(dict.fromkeys(tuple(pattern) for pattern in patterns))
    plain = {segment for row in rows for segment in row if segment and all(map(is_bare, segment))}
    longest = max(map(len, rows), default=0)
    for back in range(1, longest + 1):
        rows = _folded_at(rows, back, plain)
    return tuple(f'"{row[0]}"' if len(row) == 1 and row[0] in _NEVER_ALONE else ".".join(row) for row in rows)


def segments_of(pattern: str) -> tuple[str, ...]:
    """Return what stands between the dots of a pattern, as it is written."""
    return tuple(map(str, Pattern.parse(pattern).elements))


def _folded_at(rows: list[tuple[str, ...]], back: int, plain: set[str]) -> list[tuple[str, ...]]:
    groups: dict[object, list[tuple[str, ...]]] = {}
    for row in rows:
        at = len(row) - back
        fits = at >= 0 and len(row) > 1 and row[at] in plain
        key = (row[:at], row[at + 1 :], _is_integer(row[at])) if fits else row
        groups.setdefault(key, []).append(row)
    return [row for group in groups.values() for row in (_joined(group, back) if len(group) > 1 else group)]


def _joined(group: list[tuple[str, ...]], back: int) -> Iterator[tuple[str, ...]]:
    at = len(group[0]) - back
    head, tail = group[0][:at], group[0][at + 1 :]
    words = [row[at] for row in group]
    for segment in _numbers(words) if _is_integer(words[0]) else _spellings(words):
        yield (*head, segment, *tail)


def _is_integer(segment: str) -> bool:
    return _INTEGER.fullmatch(segment) is not None


def _numbers(words: Sequence[str]) -> Iterator[str]:
    ranges: list[list[int]] = []
    for number in sorted({int(word) for word in words}):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [str(first) if first == last else f"{first}..{last}" for first, last in ranges]
    for start in range(0, len(texts), MOST_RANGES):
        row = texts[start : start + MOST_RANGES]
        yield row[0] if len(row) == 1 and ".." not in row[0] else "{" + ",".join(row) + "}"


def _spellings(words: Sequence[str]) -> Iterator[str]:
    row: list[str] = []
    for word in words:
        if not is_spelling(word):
            yield word
            continue
        if row and (len(row) == MOST_WORDS or len(word) + sum(map(len, row)) > MOST_CHARACTERS):
            yield braced(row) if len(row) > 1 else row[0]
            row = []
        row.append(word)
    if row:
        yield braced(row) if len(row) > 1 else row[0]
