"""What stands in braces: either spellings, as ``{q,k,v}``, or integers, as ``{0..2,60}``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from qpolicy.paths.errors import PatternError, shown
from qpolicy.paths.segments import Integers, is_bare, is_canonical, merged

MAX_DIGITS = 18

_SPELL_OUT = "braces hold spellings or integers, not both; write a pattern for each"

_REFUSED = {
    "{": ("braces inside braces", "write all spellings in one pair of braces, or two pairs one after the other"),
    "*": ("a wildcard inside braces", "braces hold plain spellings; write a pattern for each"),
    "?": ("a wildcard inside braces", "braces hold plain spellings; write a pattern for each"),
    '"': ("a quote inside braces", "braces hold plain spellings; write a pattern for each"),
    " ": ("a space inside braces", "leave the space out"),
}


@dataclass(frozen=True, slots=True)
class Spelled:
    """The alternatives of braces that hold spellings, in the order of writing, each once."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Item:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + max(len(self.text), 1)

    @property
    def numeric(self) -> bool:
        return self.text.isdigit() or ".." in self.text


def read_braces(text: str, start: int) -> tuple[Spelled | Integers, int]:
    """``BRACES: "{" (INTEGERS ("," INTEGERS)* | SPELLING? ("," SPELLING?)*) "}"``.

    Args:
        text: The whole pattern.
        start: Where the opening brace is.

    Returns:
        What the braces hold, and the offset after the closing brace.

    Raises:
        PatternError: The braces are not closed or hold something else.
    """
    end = text.find("}", start)
    nested = text.find("{", start + 1, end if end >= 0 else len(text))
    if nested >= 0:
        raise PatternError(text, _REFUSED["{"][0], nested, nested + 1, _REFUSED["{"][1])
    if end < 0:
        raise PatternError(text, "a brace that is never closed", start, len(text), "add the closing `}`")
    if end == start + 1:
        raise PatternError(text, "braces with nothing in them", start, end + 1, "write the spellings, as `{a,b}`")
    items = _items(text, start + 1, end)
    if any(item.numeric for item in items):
        return Integers(merged([_range(text, item) for item in items])), end + 1
    for item in items:
        _check_spelling(text, item)
    return Spelled(tuple(dict.fromkeys(item.text for item in items))), end + 1


def _items(text: str, start: int, end: int) -> list[_Item]:
    items: list[_Item] = []
    for part in text[start:end].split(","):
        items.append(_Item(part, start))
        start += len(part) + 1
    return items


def _check_spelling(text: str, item: _Item) -> None:
    for place, char in enumerate(item.text, item.start):
        if char == ".":
            hint = "a spelling is part of one segment; write a pattern for each, or a range of integers as `{0..2}`"
            raise PatternError(text, "a dot inside braces", place, place + 1, hint)
        if not is_bare(char):
            message = f"`{shown(char)}` inside braces"
            message, hint = _REFUSED.get(char, (message, "braces hold plain spellings, as `{q,k,v}_proj`"))
            raise PatternError(text, message, place, place + 1, hint)


def _range(text: str, item: _Item) -> tuple[int, int | None]:
    """``INTEGERS: INTEGER | INTEGER ".." INTEGER?``."""
    if not item.numeric:
        _check_spelling(text, item)
        raise PatternError(text, "braces with both integers and spellings", item.start, item.end, _SPELL_OUT)
    first, dots, last = item.text.partition("..")
    start = _integer(text, first, item)
    if not dots:
        return start, start
    if not last:
        return start, None
    stop = _integer(text, last, item)
    if stop < start:
        hint = f"the smaller integer comes first: `{{{stop}..{start}}}`"
        raise PatternError(text, f"the range {item.text} runs backwards", item.start, item.end, hint)
    return start, stop


def _integer(text: str, digits: str, item: _Item) -> int:
    if not is_canonical(digits or "x"):
        _no_integer(text, digits, item)
    if len(digits) > MAX_DIGITS:
        message = f"an integer with more than {MAX_DIGITS} digits"
        raise PatternError(text, message, item.start, item.end, "write a range without an end, as `{0..}`")
    return int(digits)


def _no_integer(text: str, digits: str, item: _Item) -> NoReturn:
    if digits.isascii() and digits.isdigit():
        plain = digits.lstrip("0") or "0"
        message = f"`{shown(digits)}` is not how an integer is written"
        hint = f"leave out the zeros before it: `{shown(plain)}`; a segment spelled so is written outside braces"
        raise PatternError(text, message, item.start, item.end, hint)
    hint = "a range of integers is `{0..2}`, or `{61..}` from 61 on; letters have no ranges"
    raise PatternError(text, f"`{shown(item.text)}` is no range of integers", item.start, item.end, hint)
