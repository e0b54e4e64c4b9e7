"""What an entry was meant for: whole segments and whole numbers, whatever an engine's comparison makes of it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from qpolicy.native.regex import RegexError, compile_regex

Syntax: TypeAlias = Literal["name", "regex", "glob", "class"]

_MARKS = ("re:", "-:", "+:")
_REGEX = re.compile(r"^\.\*|\.\*(?![.]|$)|\.\+|\\|[\^$()|]")
_CLASS = re.compile(r"(?:[A-Z][a-z0-9]+|[A-Z]+(?![a-z])){1,8}[0-9A-Z]*(?:bit)?")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an entry was meant for.

    Attributes:
        syntax: How it is written.
        names: Whether it names a module, by whole segments.
        fits: Whether it fits a name by its own syntax, letter by letter, whoever reads it.
    """

    syntax: Syntax
    names: Callable[[str], bool]
    fits: Callable[[str], bool]


def syntax_of(text: str) -> Syntax:
    """Tell how an entry is written: a name, a regular expression, a glob, or a class of layers."""
    if text.startswith(_MARKS) or _REGEX.search(text):
        return "regex"
    if any(sign in text for sign in "*?["):
        return "glob"
    return "class" if _CLASS.fullmatch(text) else "name"


@lru_cache(maxsize=8192)
def meaning(text: str) -> Meaning:
    """Read an entry as a person would.

    A regular expression that ends in a letter ends with its segment, one that begins with ``.*`` and a letter begins
    with one, a plain dot is a dot, and no number is half of another.
    """
    syntax = syntax_of(text)
    if syntax == "regex":
        bare = text[3:] if text.startswith("re:") else text[2:] if text.startswith(_MARKS) else text
        return Meaning(syntax, _matcher(_strict(bare)), _matcher(bare))
    if syntax == "glob":
        plain = fnmatch.translate(text)
        return Meaning(syntax, _matcher(_strict(_from_glob(text)) + r"\Z"), _matcher(plain))
    return Meaning(syntax, lambda name: _holds(name, text.rstrip(".")), lambda name: name == text)


def _holds(name: str, run: str) -> bool:
    """Whether a name holds a run of whole segments."""
    return f".{run}." in f".{name}."


def _strict(regex: str) -> str:
    """Write a regular expression so that it takes whole segments and whole numbers only."""
    found = re.sub(r"\A\^?\.\*(?=[A-Za-z])", r"(?:.*\\.)?", regex)
    found = re.sub(r"(?<=\d)(?=\.[*+])", r"(?!\\d)", found)
    found = re.sub(r"(?<=\.\*)(?=\d)", r"(?<!\\d)", found)
    found = re.sub(r"(?<![\\\[^])\.(?![*+?{])", r"\\.", found)
    return found + r"(?=\.|\Z)" if re.search(r"[\w)\]]\Z", found) else found


def _from_glob(text: str) -> str:
    pieces = (
        ".*" if part[0] == "*" else part if len(part) > 1 else "." if part == "?" else re.escape(part)
        for part in re.findall(r"\[!?\]?[^\]]*\]|\*+|.", text)
    )
    return "".join(pieces)


def _matcher(regex: str) -> Callable[[str], bool]:
    """Return a match from the start of a name that takes bounded time; nothing fits a malformed expression."""
    try:
        compiled = compile_regex(regex)
    except RegexError:
        return lambda name: False

    def fits(name: str) -> bool:
        try:
            return compiled.match(name)
        except RegexError:
            return False

    return fits
