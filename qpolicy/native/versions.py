"""Versions of engines: which of them a reading holds for.

A reading is of one version. Where the code that it mirrors was the same in earlier ones, it says since when, and then
answers to every version between the two. Versions that are no numbers, such as a commit's, compare with none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)(?:\.post(\d+))?")


Order: TypeAlias = tuple[tuple[int, ...], int]
"""What versions compare by: the numbers, then the number of the post-release."""


def numbers(version: str) -> Order | None:
    """Return a version in an order in which it compares with others, or None when it is no number.

    Args:
        version: Such as ``0.5.10`` or ``0.5.10.post1``.
    """
    found = _NUMBERED.fullmatch(version)
    return (tuple(map(int, found[1].split("."))), int(found[2] or 0)) if found else None


def lies_between(version: str, since: str, until: str) -> bool:
    """Tell whether a version is one of those from ``since`` to ``until``, both included; an empty bound is none."""
    asked, first, last = numbers(version), numbers(since), numbers(until)
    if asked is None or (since and first is None) or (until and last is None):
        return False
    return (first is None or first <= asked) and (last is None or asked <= last)


def engine_and_version(name: str) -> tuple[str, str]:
    """Return the two parts of a name such as ``sglang 0.5.16``; the second is empty where no version is named."""
    engine, _, version = name.partition(" ")
    return engine, version.strip()


def joined(spans: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return spans of versions in words, ascending, those that overlap as one; versions that are no numbers come last.

    Args:
        spans: First and last version of each; the same twice, or nothing first, for a single one.
    """
    found = {(first or last, last) for first, last in spans}
    others = sorted(last for _, last in found if numbers(last) is None)
    merged: list[tuple[str, str]] = []
    for first, last in sorted(
        (one for one in found if numbers(one[1])), key=lambda one: (_order(one[0]), _order(one[1]))
    ):
        if merged and lies_between(first, *merged[-1]):
            merged[-1] = (merged[-1][0], max(merged[-1][1], last, key=_order))
        else:
            merged.append((first, last))
    return (*(last if first == last else f"{first} to {last}" for first, last in merged), *others)


def _order(version: str) -> Order:
    return numbers(version) or ((), 0)
