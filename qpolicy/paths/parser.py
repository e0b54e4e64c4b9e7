"""Text to elements. Whatever is no pattern is refused with its place, what is wrong, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NoReturn

from qpolicy.paths.braces import Spelled, read_braces
from qpolicy.paths.errors import PatternError, shown
from qpolicy.paths.segments import (
    STAR,
    Element,
    Globs,
    Integers,
    Pieces,
    Spellings,
    Wildcard,
    Word,
    expand,
    is_bare,
    is_quotable,
)

MAX_CHARACTERS = 4096
MAX_SEGMENTS = 64
MAX_SPELLINGS = 1024
MAX_SPELLED = 65_536

_NO_REGEX = "a pattern is no regular expression: write whole segments, such as `**.mlp.gate` or `model.layers.*.mlp`"
_QUOTE = "put the whole segment in double quotes if the name really holds it"

_STRAY = {
    "}": ("a closing brace without an opening one", "write the spellings as `{a,b}`"),
    ",": ("a comma outside braces", "put spellings in braces, as `{q,k}_proj`; separate whole patterns in the policy"),
    '"': ("a quote inside a segment", "quotes go around the whole segment"),
    "'": ("a single quote", "use double quotes, around the whole segment"),
    "@": ("`@` inside a pattern", "a set of patterns is written `@NAME` and stands at the beginning"),
    "#": ("`#` begins a comment", _QUOTE),
    ":": ("a colon inside a pattern", _NO_REGEX),
    "!": ("`!` inside a pattern", "a pattern is never negated; write a rule for the exception before this one"),
}
_STRAY |= {char: (f"`{char}` has no meaning in a pattern", _NO_REGEX) for char in "^$\\|+[]()"}

_STARS = {
    "**": ("`**` beside other characters", "`**` stands alone between dots; inside a segment write one `*`"),
    "?": ("`?` beside other characters", "`?` is one whole segment and stands alone between dots; write `*` here"),
}


def parse_elements(text: str) -> tuple[Element, ...]:
    """``PATTERN: SEGMENT ("." SEGMENT)*``.

    Raises:
        PatternError: The text is no pattern.
    """
    if not text:
        raise PatternError(text, "a pattern is empty", 0, 0, "write at least one segment; `**` is every name")
    check_length(text, 1)
    elements: list[Element] = []
    place = 0
    while True:
        element, place = _segment(text, place)
        elements.append(element)
        check_length(text, len(elements))
        if place == len(text):
            return tuple(elements)
        place += 1


def check_length(text: str, segments: int) -> None:
    """Refuses a pattern beyond the limits, which keep the cost of a hostile policy small.

    Raises:
        PatternError: ``text`` is longer than `MAX_CHARACTERS`, or ``segments`` is more than `MAX_SEGMENTS`.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"a pattern is longer than {MAX_CHARACTERS} characters"
        raise PatternError(text, message, MAX_CHARACTERS, len(text), "write several shorter patterns")
    if segments > MAX_SEGMENTS:
        message = f"a pattern has more than {MAX_SEGMENTS} segments"
        raise PatternError(text, message, 0, len(text), "write `**` for a long run of segments")


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a segment as it is written: bare text, ``*``, ``**``, ``?`` or braces."""

    content: str | Spelled | Integers
    start: int
    end: int

    def choices(self) -> tuple[str, ...]:
        assert not isinstance(self.content, Integers)
        return (self.content,) if isinstance(self.content, str) else self.content.words


def _segment(text: str, start: int) -> tuple[Element, int]:
    """``SEGMENT: QUOTED | "?" | "*" | "**" | (TEXT | "*" | BRACES)+``, up to the dot or the end."""
    if text[start : start + 1] == '"':
        return _quoted(text, start)
    parts = _parts(text, start)
    if not parts:
        _empty(text, start)
    end = parts[-1].end
    return _element(text, parts), end


def _quoted(text: str, start: int) -> tuple[Word, int]:
    """``QUOTED: '"' character+ '"'``."""
    end = text.find('"', start + 1)
    if end < 0:
        raise PatternError(text, "a quote that is never closed", start, len(text), 'add the closing `"`')
    for place in range(start + 1, end):
        if text[place] == ".":
            hint = "a quoted segment holds no dot: quote each segment by itself"
            raise PatternError(text, "a dot inside quotes", place, place + 1, hint)
        if not is_quotable(text[place]):
            _unprintable(text, place)
    if end == start + 1:
        raise PatternError(text, "an empty quoted segment", start, end + 1, "a segment is never empty; leave it out")
    if end + 1 < len(text) and text[end + 1] != ".":
        hint = "quotes go around the whole segment, from dot to dot"
        raise PatternError(text, "characters after a closing quote", end + 1, end + 2, hint)
    return Word(text[start + 1 : end], quoted=True), end + 1


def _parts(text: str, place: int) -> list[_Part]:
    parts: list[_Part] = []
    while place < len(text) and text[place] != ".":
        start = place
        content: str | Spelled | Integers
        if text[place] == "{":
            content, place = read_braces(text, place)
        elif text[place] in "*?":
            place += 2 if text.startswith("**", place) else 1
            content = text[start:place]
        else:
            place = _bare(text, place)
            content = text[start:place]
        parts.append(_Part(content, start, place))
    return parts


def _bare(text: str, place: int) -> int:
    start = place
    while place < len(text) and is_bare(text[place]):
        place += 1
    if place == start or (place < len(text) and text[place] not in ".*?{"):
        _stray(text, place)
    return place


def _element(text: str, parts: list[_Part]) -> Element:
    first = parts[0]
    if len(parts) == 1 and isinstance(first.content, Integers):
        return first.content
    if len(parts) == 1 and first.content in ("?", "*", "**"):
        return Wildcard(first.content)
    for part in parts:
        if isinstance(part.content, Integers):
            _partial_integers(text, parts, part)
        if isinstance(part.content, str) and part.content in _STARS:
            message, hint = _STARS[part.content]
            raise PatternError(text, message, part.start, part.end, hint)
    return _choice(text, parts)


def _choice(text: str, parts: list[_Part]) -> Element:
    start, end = parts[0].start, parts[-1].end
    if _too_much([part.choices() for part in parts]):
        message = f"a segment with more than {MAX_SPELLINGS} spellings, or {MAX_SPELLED} characters in all of them"
        raise PatternError(text, message, start, end, "write several patterns, or `*` for what differs")
    pieces = _joined(parts)
    if (STAR,) in pieces:
        return Globs(pieces)
    words = expand(pieces)
    if "" in words:
        hint = "leave out the empty alternative, and write a second pattern without this segment"
        raise PatternError(text, "braces that may leave the segment empty", start, end, hint)
    if len(words) == 1:
        return Word(words[0], quoted=isinstance(parts[0].content, Spelled))
    return Spellings(pieces)


def _too_much(pieces: list[tuple[str, ...]]) -> bool:
    """Says whether the pieces spell too much, without spelling it."""
    spellings = prod(map(len, pieces))
    characters = sum(spellings // len(piece) * len("".join(piece)) for piece in pieces)
    return spellings > MAX_SPELLINGS or characters > MAX_SPELLED


def _joined(parts: list[_Part]) -> Pieces:
    """Puts neighbouring texts together; braces with one alternative are text."""
    pieces: list[tuple[str, ...]] = []
    for choices in (part.choices() for part in parts):
        if pieces and len(choices) == len(pieces[-1]) == 1 and STAR not in (choices[0], pieces[-1][0]):
            pieces[-1] = (pieces[-1][0] + choices[0],)
        else:
            pieces.append(choices)
    return tuple(pieces)


def _empty(text: str, place: int) -> NoReturn:
    if text.startswith(".*"):
        hint = f"{_NO_REGEX}; `**` is none or more segments"
        raise PatternError(text, "a pattern begins with a dot", 0, 1, hint)
    if place == 0:
        raise PatternError(text, "a pattern begins with a dot", 0, 1, "leave the dot out, or write `**.` before it")
    if place == len(text):
        hint = "leave the dot out, or write `.**` to take in what lies below"
        raise PatternError(text, "a pattern ends with a dot", place - 1, place, hint)
    hint = "leave one dot out, or write `**` between them for none or more segments"
    raise PatternError(text, "a segment between two dots is empty", place - 1, place + 1, hint)


def _stray(text: str, place: int) -> NoReturn:
    char = text[place]
    if text.startswith("re:"):
        raise PatternError(text, "a regular expression", 0, 3, f"leave out `re:`; {_NO_REGEX}")
    if char.isspace() and char.isprintable():
        raise PatternError(text, "a space inside a pattern", place, place + 1, _QUOTE)
    if not char.isprintable():
        _unprintable(text, place)
    message, hint = _STRAY.get(char, (f"`{char}` inside a segment", _QUOTE))
    raise PatternError(text, message, place, place + 1, hint)


def _unprintable(text: str, place: int) -> NoReturn:
    message = f"the character {shown(text[place])} cannot be printed"
    raise PatternError(text, message, place, place + 1, "no pattern spells such a segment; `?` takes any")


def _partial_integers(text: str, parts: list[_Part], part: _Part) -> NoReturn:
    before, after = text[parts[0].start : part.start], text[part.end : parts[-1].end]
    items = text[part.start + 1 : part.end - 1].split(",")
    hint = "integers fill the whole segment, from dot to dot"
    if all(item.isdigit() for item in items):
        hint += f"; write the spellings out: `{{{','.join(before + item + after for item in items)}}}`"
    raise PatternError(text, "integers in braces beside other characters", part.start, part.end, _clipped(hint))


def _clipped(hint: str) -> str:
    """Keeps a hint that quotes the input short."""
    return hint if len(hint) < 200 else f"{hint[:200]}..."
