"""The grammar as a working parser: tokens of a text, and the machine that accepts one statement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final
from zlib import crc32

from lark import Lark, Token
from lark import __version__ as lark_version
from lark.parsers.lalr_interactive_parser import InteractiveParser

from qpolicy.lang.source import Source, Span
from qpolicy.lang.words import RESERVED
from qpolicy.resources import shipped

KEYWORDS: Final = {word: f"_{word.upper()}" for word in RESERVED}
"""The terminal of each reserved word."""

END: Final = "$END"

TABLES: Final = "qpolicy.tables.json"
"""The file beside the grammar that holds its tables."""


class _KeepTokens:
    """Tells lark to keep the terminals that no rule uses; they are read before the rules see the text."""

    always_accept = ("NEWLINE", "COMMENT", "FOREIGN", "OPEN_QUOTE", "OPEN_BRACE", "STRAY")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Return the tokens unchanged."""
        return stream


def _keyword(token: Token) -> Token:
    token.type = KEYWORDS.get(token.value, token.type)
    return token


@cache
def grammar() -> Lark:
    """Return the parser, made on first use and kept for the life of the process."""
    return from_tables() or built()


def built() -> Lark:
    """Return the parser, worked out from the grammar."""
    return Lark(_text(), parser="lalr", lexer="basic", propagate_positions=True, maybe_placeholders=True, **_hooks())


def from_tables() -> Lark | None:
    """Return the parser from its tables, which takes a twentieth of the time.

    Returns:
        The parser; None where there are no tables of this grammar for the installed version of lark.
    """
    try:
        found = json.loads((shipped("grammar") / TABLES).read_text(encoding="utf-8"), object_hook=_numbered)
    except (OSError, ValueError):
        return None
    if found["lark"] != lark_version or found["grammar"] != fingerprint():
        return None
    load: Callable[..., Lark] = Lark._load_from_dict  # what lark's own generator of standalone parsers calls
    return load(found["data"], found["memo"], **_hooks())


def fingerprint() -> int:
    """Return a number that changes with the grammar."""
    return crc32(_text().encode())


def _text() -> str:
    return (shipped("grammar") / "qpolicy.lark").read_text(encoding="utf-8")


def _hooks() -> dict[str, Any]:
    return {"postlex": _KeepTokens(), "lexer_callbacks": {"WORD": _keyword}}


def _numbered(found: dict[str, Any]) -> dict[str | int, Any]:
    """Return an object of the tables with numbers for keys where JSON has digits."""
    return {int(key) if key.isdecimal() else key: value for key, value in found.items()}


def tokens(source: Source) -> Iterator[Token]:
    """Yield every token of the text, comments and newlines included, spaces left out."""
    return grammar().lex(source.text)


def machine() -> InteractiveParser:
    """Return a fresh machine that is fed the tokens of one statement."""
    return grammar().parse_interactive()


def end_of(last: Token) -> Token:
    """Return the token that stands for the end of a statement after its last token."""
    return Token.new_borrow_pos(END, "", last)


def span_of(first: Token, last: Token | None = None) -> Span:
    """Return the span from one token to another, or of one token."""
    assert first.start_pos is not None and first.line is not None and first.column is not None
    end = (last or first).end_pos
    assert end is not None
    return Span(first.start_pos, end, first.line, first.column)
