"""Patterns under construction: what stands between the dots, as values that can be merged and then spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from qpolicy.lang.words import RESERVED
from qpolicy.paths.segments import is_bare, is_quotable, is_spelling

MOST_WORDS = 32
"""How many spellings one pair of braces holds at most; more are no longer read."""

MOST_CHARACTERS = 1_000
"""How many characters these spellings have together at most."""

_NEVER_ALONE = frozenset({*RESERVED, "mtp"})

Range: TypeAlias = tuple[int, int | None]
"""First and last integer, both included; without a last one there is no end."""


class Rest(Enum):
    """None or more segments."""

    REST = "**"


REST = Rest.REST


@dataclass(frozen=True, slots=True)
class Words:
    """One of these segments.

    Attributes:
        words: The segments, each once.
    """

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """One of these integers.

    Attributes:
        ranges: The ranges, ascending, without overlap.
    """

    ranges: tuple[Range, ...]


ANY_NUMBER = Numbers(((0, None),))

Segment: TypeAlias = Words | Numbers | Rest
Shape: TypeAlias = tuple[Segment, ...]


def literal(name: str) -> Shape:
    """Return the pattern that matches this one name."""
    return tuple(Words((segment,)) for segment in name.split("."))


def spelled(shape: Shape) -> str:
    """Return the pattern as the language writes it.

    A segment with a character that no pattern can spell becomes ``?``, which takes more than was meant: what uses such
    a pattern must be checked against every name.
    """
    if len(shape) == 1 and isinstance(shape[0], Words) and shape[0].words[0] in _NEVER_ALONE:
        return f'"{shape[0].words[0]}"'
    return ".".join(map(_spelled, shape))


def braced(words: Sequence[str]) -> str:
    """Return several words as braces, what they have in common before them or behind them: ``{q,k,v}_proj``."""
    start = _up_to_mark(_common(words))
    rests = [word[len(start) :] for word in words]
    end = _up_to_mark(_common([rest[::-1] for rest in rests]))[::-1]
    middles = [rest[: len(rest) - len(end)] for rest in rests]
    if all(middle and is_spelling(middle) for middle in middles):
        return f"{start}{{{','.join(middles)}}}{end}"
    return f"{{{','.join(words)}}}"


def pieces(shape: Shape) -> int:
    """Return how many ranges of integers a pattern spells."""
    return sum(len(segment.ranges) for segment in shape if isinstance(segment, Numbers))


def rests(shape: Shape) -> int:
    """Return how many ``**`` a pattern has."""
    return sum(segment is REST for segment in shape)


def _spelled(segment: Segment) -> str:
    match segment:
        case Words(words):
            return _word(words[0]) if len(words) == 1 else braced(words)
        case Numbers(ranges):
            return _numbers(ranges)
        case Rest():
            return segment.value


def _word(word: str) -> str:
    if all(map(is_bare, word)):
        return word
    return f'"{word}"' if all(map(is_quotable, word)) else "?"


def _numbers(ranges: tuple[Range, ...]) -> str:
    texts = [str(first) if first == last else f"{first}..{'' if last is None else last}" for first, last in ranges]
    return texts[0] if len(texts) == 1 and ".." not in texts[0] else f"{{{','.join(texts)}}}"


def _common(words: Sequence[str]) -> str:
    """Return the characters with which all words begin."""
    least, most = min(words), max(words)
    return next((least[:at] for at, char in enumerate(least) if char != most[at]), least)


def _up_to_mark(common: str) -> str:
    """Cut what words have in common where a part of the name ends: ``gate_`` of ``gate_up`` and ``gate_use``."""
    return common[: common.rfind("_") + 1]
