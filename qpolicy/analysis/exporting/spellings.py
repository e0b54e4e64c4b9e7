"""Ways to write what a pattern says as an entry: a name, a part of one, a glob, a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qpolicy.analysis.inference.shapes import REST, Numbers, Rest, Segment, Shape, Words
from qpolicy.native.records import Clause, Record

_MOST = 64
"""How many spellings of one glob are tried."""


def spellings(shapes: Iterable[Shape], names: Sequence[str], record: Record, mark: str) -> list[str]:
    """Return entries that may say what some patterns say; which of them do is for the reading to tell.

    Args:
        shapes: Patterns that match the names and nothing that must not be excluded.
        names: The names to exclude.
        record: How the engine reads entries.
        mark: What every entry begins with.
    """
    clauses = [*record.clauses, *(clause for tier in record.tiers for clause in tier.clauses)]
    regexes = {clause.prefix for clause in clauses if _is_regex(clause) and clause.prefix.startswith(mark)}
    globs = any(word in operator for clause in clauses for operator in clause.operators for word in ("glob", "wild"))
    found: dict[str, None] = {}
    for shape in shapes:
        found |= dict.fromkeys(prefix + _regex(shape) for prefix in regexes)
        if globs:
            found |= dict.fromkeys(_globs(shape))
        if not mark:
            found |= dict.fromkeys(text for name in names for core in _cores(shape, name) for text in _around(core))
    if not mark:
        found |= dict.fromkeys(name.rpartition(".")[2] for name in names)
    return list(found)


def _is_regex(clause: Clause) -> bool:
    return any(operator.endswith("regex") for operator in clause.operators)


def literal_regex(names: Iterable[str], mark: str) -> list[str]:
    """Return a regular expression for each name."""
    return [f"{mark}^{re.escape(name)}$".replace(r"\_", "_").replace(r"\-", "-") for name in names]


def _regex(shape: Shape) -> str:
    shape = tuple(one for one, before in zip(shape, (None, *shape), strict=False) if (one, before) != (REST, REST))
    text = ""
    for at, segment in enumerate(shape):
        last = at == len(shape) - 1
        if isinstance(segment, Rest):
            # Behind the start or a dot; what follows, if anything, begins a segment.
            behind = text.endswith(r"\.")
            text = text.removesuffix(r"\.") + r"(?:\..*)?" if last and behind else text + _free(last)
        else:
            text += _segment(segment) + ("" if last else r"\.")
    return f"^{text}$"


def _free(last: bool) -> str:
    return ".*" if last else r"(?:.*\.)?"


def _segment(segment: Segment) -> str:
    if isinstance(segment, Words):
        return _one_of([re.escape(word) for word in segment.words])
    assert isinstance(segment, Numbers)
    if any(last is None for _, last in segment.ranges):
        return r"\d+"
    return _one_of([str(number) for first, last in segment.ranges for number in range(first, (last or first) + 1)])


def _one_of(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"


def _globs(shape: Shape) -> Iterator[str]:
    rows = [""]
    for at, segment in enumerate(shape):
        last = at == len(shape) - 1
        dot = "" if last else "."
        if isinstance(segment, Rest):
            rows = [row.removesuffix(".") + ".*" if last and at else row + ("*" if last else "*.") for row in rows]
        elif isinstance(segment, Numbers):
            rows = [row + "*" + dot for row in rows]
        else:
            rows = [row + word + dot for row in rows for word in segment.words][:_MOST]
    for row in rows:
        yield row
        yield row.replace(".*", "*") if row.endswith(".*") else row + "*"
        if row.startswith("*."):
            yield row[1:]
            yield row[2:]


def _cores(shape: Shape, name: str) -> Iterator[str]:
    """Yield the part of a name that the pattern spells, where the pattern fits it and has no gap."""
    front, back = shape[0] is REST, shape[-1] is REST
    middle = shape[front : len(shape) - back]
    if REST in middle:
        return
    segments = name.split(".")
    starts = range(len(segments) - len(middle) + 1) if front else range(1)
    for start in starts:
        part = segments[start : start + len(middle)]
        closed = back or start + len(middle) == len(segments)
        if closed and len(part) == len(middle) and all(map(_fits, middle, part)):
            yield ".".join(part)


def _fits(segment: Segment, text: str) -> bool:
    if isinstance(segment, Words):
        return text in segment.words
    return (
        isinstance(segment, Numbers)
        and text.isdecimal()
        and any(first <= int(text) and (last is None or int(text) <= last) for first, last in segment.ranges)
    )


def _around(core: str) -> tuple[str, ...]:
    return (core, f"{core}.", f".{core}", f".{core}.")
