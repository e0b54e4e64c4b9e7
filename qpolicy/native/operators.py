"""The operators with which engines compare one entry with one module name, each over all entries at once.

An operator answers "which entries fit this name" without trying them one by one wherever it can: it derives from the
name the few texts that would fit and looks them up. Only regular expressions and globs are tried, and those behind
one joint expression.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from qpolicy.native.regex import LONGEST_QUICK_NAME, Regex, RegexError, anchored

Numbered = Sequence[tuple[int, str]]
"""Entries' texts with their positions in the list."""

_JOINED = 100
# SGLang 0.5.23, quantization/auto_round.py: a key with one of these is an expression; a dot alone makes none.
_SPECIAL = frozenset("*+?^$()[]{}|\\")


class Operator(Protocol):
    """One operator, loaded with entries."""

    broken: dict[int, RegexError]
    """The entries that cannot be used, by position."""

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name, in any order."""
        ...


class Lookup:
    """An operator whose fitting texts follow from the name."""

    def __init__(self, entries: Numbered, spellings: Callable[[str], Iterable[str]], tidy: str = "") -> None:
        self.broken: dict[int, RegexError] = {}
        self._spellings = spellings
        self._tidy = tidy
        self._places: dict[str, list[int]] = {}
        for place, text in entries:
            self._places.setdefault(text.rstrip(tidy) if tidy else text, []).append(place)

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        name = name.rstrip(self._tidy) if self._tidy else name
        return [place for text in self._spellings(name) for place in self._places.get(text, ())]


class Endings:
    """An operator whose entries fit every name that ends in them, half a segment or nothing at all included."""

    def __init__(self, entries: Numbered) -> None:
        self.broken: dict[int, RegexError] = {}
        self._places: dict[str, list[int]] = {}
        for place, text in entries:
            self._places.setdefault(text, []).append(place)
        self._lengths = sorted({len(text) for text in self._places})

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        size = len(name)
        endings = (name[size - length :] for length in self._lengths if length <= size)
        return [place for ending in endings for place in self._places.get(ending, ())]


class Tested:
    """An operator that tries each entry."""

    def __init__(self, entries: Numbered, fits: Callable[[str, str], bool]) -> None:
        self.broken: dict[int, RegexError] = {}
        self._entries = tuple(entries)
        self._fits = fits

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        return [place for place, text in self._entries if self._fits(name, text)]


class Expressions:
    """An operator that tries regular expressions from the start of the name.

    Args:
        entries: The expressions.
        options: ``before`` and ``after`` are put around each; ``mode`` is ``match``, ``fullmatch`` or ``search``;
            with ``only`` = ``special`` those that hold no special character are left out, and with ``broken`` =
            ``ignored`` those that are no expressions.
    """

    def __init__(self, entries: Numbered, options: Mapping[str, str] = MappingProxyType({})) -> None:
        self.broken: dict[int, RegexError] = {}
        plain: list[tuple[int, Regex]] = []
        self._single: list[tuple[int, Regex]] = []
        before, after = options.get("before", ""), options.get("after", "")
        for place, text in entries:
            if options.get("only") == "special" and not _SPECIAL.intersection(text):
                continue
            try:
                regex = anchored(before + text + after, options.get("mode", "match"))
            except RegexError as error:
                if not (error.broken and options.get("broken") == "ignored"):
                    self.broken[place] = error
            else:
                (plain if regex.plain else self._single).append((place, regex))
        self._joint = [_join(plain[start : start + _JOINED]) for start in range(0, len(plain), _JOINED)]

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        quick = len(name) <= LONGEST_QUICK_NAME
        candidates = list(self._single)
        for joint, members in self._joint:
            if not quick or joint.match(name):
                candidates += members
        return [place for place, regex in candidates if regex.match(name)]


class Globs:
    """An operator for shell patterns over the whole name."""

    def __init__(self, entries: Numbered) -> None:
        literal = [(place, text) for place, text in entries if not _is_glob(text)]
        self._literal = Lookup(literal, itself)
        self._expressions = Expressions([(place, _translated(text)) for place, text in entries if _is_glob(text)])
        self.broken = self._expressions.broken

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        return [*self._literal.fitting(name), *self._expressions.fitting(name)]


def itself(name: str) -> tuple[str, ...]:
    """Return the name alone: equality."""
    return (name,)


def leaf(name: str) -> tuple[str, ...]:
    """Return the last segment of the name."""
    return (name.rpartition(".")[2],)


def dotted_suffixes(name: str) -> list[str]:
    """Return the name and what follows each of its dots."""
    return [name, *(name[place + 1 :] for place, character in enumerate(name) if character == ".")]


def segment_runs(name: str) -> set[str]:
    """Return every run of whole segments that occurs in the name."""
    parts = name.split(".")
    return {".".join(parts[start:stop]) for start in range(len(parts)) for stop in range(start + 1, len(parts) + 1)}


def _join(members: list[tuple[int, Regex]]) -> tuple[re.Pattern[str], list[tuple[int, Regex]]]:
    return re.compile("|".join(f"(?:{regex.text})" for _, regex in members)), members


def _is_glob(text: str) -> bool:
    return any(character in text for character in "*?[")


def _translated(text: str) -> str:
    """Spell a glob as a regular expression without `fnmatch.translate`'s atomic groups, so that it can be bounded."""
    return "".join(_piece(token) for token in re.findall(r"\[!?\]?[^\]]*\]|\*+|.", text, re.DOTALL)) + r"\Z"


def _piece(token: str) -> str:
    if token.startswith("*"):
        return r"[\s\S]*"
    if token == "?":
        return r"[\s\S]"
    if len(token) == 1:
        return re.escape(token)
    return fnmatch.translate(token).removeprefix("(?s:").removesuffix(r")\Z").removesuffix(r")\z")
