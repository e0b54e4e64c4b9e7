"""Writes many module names as few: numbers that run are folded into braces, as patterns write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LARGEST = 9  # digits; a longer number is no layer's
_BLANK = "\0"  # no segment of a name holds it


@dataclass(frozen=True, slots=True)
class Folded:
    """Some names written as one.

    Attributes:
        text: The names as a pattern, such as ``model.layers.{0..3}.mlp.gate``.
        count: How many names it stands for.
    """

    text: str
    count: int


def is_number(segment: str) -> bool:
    """Whether a segment is an integer as patterns write them: ASCII digits, no leading zero."""
    plain = segment.isascii() and segment.isdigit() and len(segment) <= _LARGEST
    return plain and (segment == "0" or segment[0] != "0")


def braces(numbers: Iterable[int]) -> str:
    """Return numbers as one segment of a pattern: ``3``, ``{0..2,5}``."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    told = ",".join(str(first) if first == last else f"{first}..{last}" for first, last in runs)
    return told if told.isdigit() else f"{{{told}}}"


def fold_names(names: Sequence[str]) -> list[Folded]:
    """Return the names, those that differ in numbers only as one, in the order of their first name."""
    found = dict.fromkeys(map(_partly, names), 1)
    while any(partly.open for partly in found):
        found = _fold_last(found)
    return [Folded(".".join(partly.segments), count) for partly, count in found.items()]


@dataclass(frozen=True, slots=True)
class _Partly:
    """A name on the way: its segments, and where the numbers are that are not folded yet."""

    segments: tuple[str, ...]
    open: tuple[int, ...]

    def close(self, text: str) -> _Partly:
        """Put a text in place of the last open number."""
        if not self.open:
            return self
        at = self.open[-1]
        return _Partly((*self.segments[:at], text, *self.segments[at + 1 :]), self.open[:-1])

    @property
    def number(self) -> int | None:
        """The last open number."""
        return int(self.segments[self.open[-1]]) if self.open else None


def _partly(name: str) -> _Partly:
    segments = tuple(name.split("."))
    return _Partly(segments, tuple(at for at, segment in enumerate(segments) if is_number(segment)))


def _fold_last(found: dict[_Partly, int]) -> dict[_Partly, int]:
    """Fold what differs in its last open number only."""
    groups: dict[_Partly, list[_Partly]] = {}
    for partly in found:
        groups.setdefault(partly.close(_BLANK), []).append(partly)
    folded: dict[_Partly, int] = {}
    for group in groups.values():
        numbers = [partly.number for partly in group if partly.number is not None]
        folded[group[0].close(braces(numbers))] = sum(found[partly] for partly in group)
    return folded


def listed(names: Sequence[str], limit: int) -> str:
    """Return the folded names joined by commas, at most ``limit`` of them and how many names are left out."""
    folded = fold_names(names)
    left = sum(one.count for one in folded[limit:])
    return ", ".join(one.text for one in folded[:limit]) + (f" and {left} more" if left else "")
