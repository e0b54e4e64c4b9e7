"""The elements that a pattern is made of: what may stand between two dots.

Each element that stands for one segment has ``matches(segment)`` for a segment that is not empty. ``str`` gives the
text that the parser reads back as an equal element.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from itertools import product
from typing import TypeAlias

STAR = "*"
"""The piece, inside one segment, that stands for none or more characters. No text or spelling holds this character."""

_NEVER_BARE = frozenset(".,{}*?\"@#:()=;<>&^$\\|+[]!'`")

Pieces: TypeAlias = tuple[tuple[str, ...], ...]
"""What a segment is put together from, in order: each piece a tuple of spellings to choose from, or ``(STAR,)``."""


def is_bare(char: str) -> bool:
    """Says whether a character may stand in a segment without quotes.

    Those are the printable characters of Unicode, spaces excepted, without ``. , { } * ? " @ # : ( ) = ; < > &``,
    which mean something in the language or close to it, and without ``^ $ | + [ ] ! '``, the backslash and the grave
    accent, which are refused so that a regular expression, a negation or a wrong kind of quote is reported instead of
    read as a name.
    """
    return char.isprintable() and not char.isspace() and char not in _NEVER_BARE


def is_spelling(text: str) -> bool:
    """Says whether a text may stand in braces as a spelling: bare characters, and not digits alone."""
    return all(map(is_bare, text)) and not text.isdigit()


def is_quotable(char: str) -> bool:
    """Says whether a character may stand inside a quoted segment: printable (a space too), no dot and no quote."""
    return char.isprintable() and char not in '."'


class Wildcard(Enum):
    """An element that takes any segment; the value is how it is written."""

    ONE = "?"
    SOME = "*"
    REST = "**"

    def __str__(self) -> str:
        return self.value

    def matches(self, segment: str) -> bool:
        """Takes every segment."""
        return True


@dataclass(frozen=True, slots=True)
class Word:
    """Exactly this segment.

    Attributes:
        text: The segment.
        quoted: Whether it was written so that it cannot be taken for a keyword; plays no part in comparison.
    """

    text: str
    quoted: bool = field(default=False, compare=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The segments that this stands for."""
        return (self.text,)

    def matches(self, segment: str) -> bool:
        """Says whether ``segment`` is this word."""
        return segment == self.text

    def __str__(self) -> str:
        return self.text if all(map(is_bare, self.text)) else f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Spellings:
    """One of finitely many segments, as ``{q,k,v}_proj``.

    Attributes:
        pieces: As written; none of them is a star.
        words: Every segment that this stands for, in the order of writing, each once.
    """

    pieces: Pieces
    words: tuple[str, ...] = field(init=False, compare=False, repr=False)
    _lookup: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        words = expand(self.pieces)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "_lookup", frozenset(words))

    def matches(self, segment: str) -> bool:
        """Says whether ``segment`` is one of the words."""
        return segment in self._lookup

    def __str__(self) -> str:
        return written(self.pieces)


@dataclass(frozen=True, slots=True)
class Globs:
    """One segment with a ``*`` in it, as ``shared_expert*`` or ``{q,k}_proj*``.

    Attributes:
        pieces: As written; at least one of them is a star and one is not.
        texts: For each choice of spellings, the texts between its stars: ``a*b`` is ``("a", "b")``.
    """

    pieces: Pieces
    texts: tuple[tuple[str, ...], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", tuple(tuple(text.split(STAR)) for text in expand(self.pieces)))

    def matches(self, segment: str) -> bool:
        """Says whether some choice of spellings and of characters for the stars gives ``segment``."""
        return any(_fits(texts, segment) for texts in self.texts)

    def __str__(self) -> str:
        return written(self.pieces)


@dataclass(frozen=True, slots=True)
class Integers:
    """The canonical decimal spelling of an integer in one of the ranges: ``7``, never ``007``.

    Attributes:
        ranges: First and last integer of each range, both included, ascending, neither touching nor overlapping; a last
            of None is no limit.
    """

    ranges: tuple[tuple[int, int | None], ...]

    def matches(self, segment: str) -> bool:
        """Says whether ``segment`` is the canonical spelling of an integer in one of the ranges."""
        return is_canonical(segment) and any(
            not_less(segment, str(first)) and (last is None or not_less(str(last), segment))
            for first, last in self.ranges
        )

    def __str__(self) -> str:
        return f"{{{','.join(_written_range(*each) for each in self.ranges)}}}"


Element: TypeAlias = Word | Spellings | Globs | Integers | Wildcard


def is_canonical(text: str) -> bool:
    """Says whether ``text`` is how an integer from 0 on is written: ASCII digits without a leading zero."""
    return text.isascii() and text.isdigit() and (text[0] != "0" or text == "0")


def not_less(left: str, right: str) -> bool:
    """Compares two canonical integers without computing them: a million digits cost no more than reading them."""
    return (len(left), left) >= (len(right), right)


def expand(pieces: Pieces) -> tuple[str, ...]:
    """Returns every text that the pieces spell, stars kept as ``*``, in the order of writing, each once."""
    return tuple(dict.fromkeys(map("".join, product(*pieces))))


def written(pieces: Pieces) -> str:
    """Returns the pieces as pattern text."""
    return "".join(piece[0] if len(piece) == 1 else f"{{{','.join(piece)}}}" for piece in pieces)


def merged(ranges: Iterable[tuple[int, int | None]]) -> tuple[tuple[int, int | None], ...]:
    """Returns the same integers as ascending ranges that neither touch nor overlap."""
    result: list[tuple[int, int | None]] = []
    for first, last in sorted(ranges, key=lambda each: each[0]):
        if result and (result[-1][1] is None or first <= result[-1][1] + 1):
            start, end = result.pop()
            result.append((start, None if end is None or last is None else max(end, last)))
        else:
            result.append((first, last))
    return tuple(result)


def _written_range(first: int, last: int | None) -> str:
    if last is None:
        return f"{first}.."
    return str(first) if first == last else f"{first}..{last}"


def _fits(texts: tuple[str, ...], segment: str) -> bool:
    """Places the texts from left to right, each as early as it goes; the last one at the end."""
    first, *middle, last = texts
    end = len(segment) - len(last)
    if not segment.startswith(first) or not segment.endswith(last):
        return False
    place = len(first)
    for text in middle:
        found = segment.find(text, place, end)
        if found < 0:
            return False
        place = found + len(text)
    return place <= end
