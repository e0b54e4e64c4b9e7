"""From tokens to statements: where a line continues, and which words are keywords only in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from lark import Token

from qpolicy.lang.grammar import KEYWORDS, span_of
from qpolicy.lang.issue import Complaint
from qpolicy.lang.source import Span

CONTINUES: Final = frozenset({"_COMMA", "_AND", "_OR", "_NOT"})
"""A line that ends in one of these goes on in the next."""

TRIVIA: Final = frozenset({"NEWLINE", "COMMENT"})

MAX_NESTING: Final = 100
"""How many parentheses and ``not`` may be in force at one place."""

MAX_TOKENS: Final = 250_000
"""How many words and signs a file may have, so that a hostile one costs bounded time and memory."""

# None of these can follow a comma, an operator or an open parenthesis: a line that begins with one begins a statement.
_BEGINS: Final = frozenset(KEYWORDS[word] for word in ("qpolicy", "let", "drop", "when", "otherwise", "expect"))

_AFTER_COLON: Final = {
    "unquantized": "UNQUANTIZED",
    "quantized": "QUANTIZED",
    "native": "NATIVE",
    "error": "ERROR",
}
_ASKERS: Final = {"draft": "DRAFT", "target": "TARGET"}


def chunks(stream: Iterable[Token]) -> Iterator[list[Token]]:
    """Cut a token stream into statements.

    Args:
        stream: All tokens of a text.

    Yields:
        The tokens from the end of the statement before up to and with the newline that ends this one, so that every
        token belongs to one chunk. A chunk without a statement holds only comments and newlines.

    Raises:
        Complaint: The text has more than :data:`MAX_TOKENS` tokens.
    """
    chunk: list[Token] = []
    depth, last, at_line_start = 0, "", True
    for number, token in enumerate(stream):
        if number >= MAX_TOKENS:
            message = f"the file has more than {MAX_TOKENS:,} words and signs"
            raise Complaint("QP001", message, span_of(token), hint="name many modules by one pattern")
        kind = token.type
        if at_line_start and last and kind in _BEGINS:
            yield chunk
            chunk, depth, last = [], 0, ""
        chunk.append(token)
        at_line_start = kind == "NEWLINE"
        if at_line_start and depth <= 0 and last not in CONTINUES:
            yield chunk
            chunk, depth, last = [], 0, ""
        elif kind not in TRIVIA:
            depth, last = _depth(depth, kind), kind
    if chunk:
        yield chunk


def _depth(depth: int, kind: str) -> int:
    """Return how many parentheses are open after a token; a colon inside them is a mistake and ends their reach."""
    if kind == "_LPAR":
        return depth + 1
    if kind == "_COLON":
        return 0
    return depth - (kind == "_RPAR")


def statement(chunk: Iterable[Token]) -> list[Token]:
    """Return a chunk's tokens without comments and newlines, with the words of its decision turned into keywords."""
    words = [token for token in chunk if token.type not in TRIVIA]
    for before, token in pairwise(words):
        if token.type == "WORD":
            token.type = _soft(before.type, token)
    if len(words) > 2 and words[0].type == "_EXPECT" and words[2].type in {"WORD", "SET"}:
        words[1].type = _ASKERS.get(words[1].value, words[1].type)
    return words


def _soft(before: str, token: Token) -> str:
    if before == "_COLON":
        return _AFTER_COLON.get(token.value, token.type)
    return "_AS" if before == "QUANTIZED" and token.value == "as" else token.type


def check_tabs(words: Iterable[Token]) -> None:
    """Refuse a tab inside a word, where it would be part of a name that nobody can read.

    Raises:
        Complaint: At the first such tab.
    """
    for token in words:
        if "\t" in token:
            word, at = span_of(token), token.index("\t")
            tab = Span(word.start + at, word.start + at + 1, word.line, word.column + at)
            raise Complaint("QP001", "a tab cannot stand in quotes or braces", tab, hint="write a space")


def check_nesting(words: Iterable[Token]) -> None:
    """Refuse a statement whose condition nests too deeply, before anything walks it.

    Raises:
        Complaint: At the first token that is too deep.
    """
    outer: list[int] = []
    level, before = 0, ""
    for token in words:
        kind = token.type
        if kind == "_LPAR":
            level += before not in {"WORD", "_IN"}
            outer.append(level)
        elif kind == "_NOT":
            level += 1
        elif kind == "_RPAR" or kind in CONTINUES:
            if kind == "_RPAR" and outer:
                outer.pop()
            level = outer[-1] if outer else 0
        if level > MAX_NESTING:
            hint = "write parts of it as rules of their own; the first rule that applies decides"
            raise Complaint("QP015", f"the condition nests more than {MAX_NESTING} deep", span_of(token), hint=hint)
        before = kind
