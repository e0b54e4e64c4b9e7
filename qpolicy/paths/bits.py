"""Sets of small numbers as integers, a bit for each number."""

from __future__ import annotations

from collections.abc import Iterable


def bits(answers: Iterable[bool]) -> int:
    """Returns the set of the places at which the answer is true, in time linear in their number."""
    return int("".join("1" if answer else "0" for answer in answers)[::-1] or "0", 2)
