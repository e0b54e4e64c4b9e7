"""Versions of engines: which of them a reading holds for.

A reading is of one version. Where the code that it mirrors was the same in earlier ones, it says since when, and then
answers to every version between the two. Versions that are no numbers, such as a commit's, compare with none.
"""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)(?:\.post(\d+))?")


def numbers(version: str) -> tuple[tuple[int, ...], int] | None:
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
