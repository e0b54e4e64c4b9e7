"""The grammar as a working parser: tokens of a text, and the machine that accepts one statement."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from lark import Lark, Token
from lark.parsers.lalr_interactive_parser import InteractiveParser

from qpolicy.lang.source import Source, Span
from qpolicy.lang.words import RESERVED
from qpolicy.resources import shipped

KEYWORDS: Final = {word: f"_{word.upper()}" for word in RESERVED}
"""The terminal of each reserved word."""

END: Final = "$END"


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
    """Return the parser, built on first use and kept for the life of the process."""
    return Lark(
        (shipped("grammar") / "qpolicy.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        postlex=_KeepTokens(),
        lexer_callbacks={"WORD": _keyword},
        propagate_positions=True,
        maybe_placeholders=True,
    )


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
