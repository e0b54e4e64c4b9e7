"""Ranges of integers as templates: for each digit, the characters that may stand there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

DIGITS = "0123456789"

Template: TypeAlias = tuple[str, ...]


def templates(first: int, last: int) -> Iterator[Template]:
    """Yields templates that together spell exactly the canonical integers from ``first`` to ``last``, both included."""
    low, high = str(first), str(last)
    for length in range(len(low), len(high) + 1):
        smallest = low if length == len(low) else "1" + "0" * (length - 1)
        largest = high if length == len(high) else "9" * length
        yield from _between(smallest, largest)


def longer(length: int) -> Template:
    """Returns the template of the canonical integers with exactly ``length`` digits; any further digit may follow."""
    return (DIGITS[1:], *(DIGITS,) * (length - 1))


def _between(low: str, high: str) -> Iterator[Template]:
    """Yields templates for the numbers from ``low`` to ``high``, which have the same number of digits."""
    if not low:
        yield ()
    elif low[0] == high[0]:
        yield from _after(low[0], _between(low[1:], high[1:]))
    else:
        nines, zeros = "9" * (len(low) - 1), "0" * (len(low) - 1)
        yield from _after(low[0], _between(low[1:], nines))
        if between := DIGITS[int(low[0]) + 1 : int(high[0])]:
            yield (between, *(DIGITS,) * (len(low) - 1))
        yield from _after(high[0], _between(zeros, high[1:]))


def _after(digit: str, rests: Iterator[Template]) -> Iterator[Template]:
    return ((digit, *rest) for rest in rests)
