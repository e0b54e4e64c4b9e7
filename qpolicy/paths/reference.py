"""What patterns mean, once more: slow, short and obviously right. Tests compare the engines of this room with it.

Patterns are texts here, and taken to be well formed. Sets of names are Python's own sets, cut out of a finite universe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product


def matches(pattern: str, name: str) -> bool:
    """Says whether the pattern matches the whole name."""
    segments = name.split(".")
    return all(segments) and _path(re.findall(r'(?:"[^"]*"|\{[^}]*\}|[^.])+', pattern), segments)


def universe(segments: Sequence[str], longest: int) -> frozenset[str]:
    """Returns every name of up to ``longest`` of these segments."""
    return frozenset(".".join(name) for length in range(1, longest + 1) for name in product(segments, repeat=length))


def members(patterns: Iterable[str], names: frozenset[str]) -> frozenset[str]:
    """Returns the names that some pattern matches."""
    listed = list(patterns)
    return frozenset(name for name in names if any(matches(pattern, name) for pattern in listed))


def size(name: str) -> tuple[int, int]:
    """Returns what makes a name shorter than another: its number of segments, then of characters."""
    return name.count("."), len(name)


def _path(pattern: list[str], name: list[str]) -> bool:
    if not pattern:
        return not name
    head, rest = pattern[0], pattern[1:]
    if head in ("*", "**"):
        fewest = 1 if head == "*" else 0
        return any(_path(rest, name[taken:]) for taken in range(fewest, len(name) + 1))
    return bool(name) and _segment(head, name[0]) and _path(rest, name[1:])


def _segment(written: str, segment: str) -> bool:
    if written == "?":
        return True
    if written.startswith('"'):
        return segment == written[1:-1]
    if re.fullmatch(r"\{[0-9][0-9.,]*\}", written):
        return any(_integer(item, segment) for item in written[1:-1].split(","))
    return any(_characters(spelling, segment) for spelling in _spellings(written))


def _integer(item: str, segment: str) -> bool:
    if not re.fullmatch("0|[1-9][0-9]*", segment):
        return False
    first, dots, last = item.partition("..")
    return int(first) <= int(segment) and (int(segment) <= int(last or first) or (bool(dots) and not last))


def _spellings(written: str) -> list[str]:
    before, brace, behind = written.partition("{")
    if not brace:
        return [written]
    inside, _, after = behind.partition("}")
    return [before + choice + rest for choice in inside.split(",") for rest in _spellings(after)]


def _characters(spelling: str, segment: str) -> bool:
    if not spelling:
        return not segment
    if spelling[0] == "*":
        return any(_characters(spelling[1:], segment[taken:]) for taken in range(len(segment) + 1))
    return segment[:1] == spelling[0] and _characters(spelling[1:], segment[1:])
