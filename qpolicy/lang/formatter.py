"""The canonical layout of a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from lark import Token

from qpolicy.lang.grammar import tokens
from qpolicy.lang.layout import CONTINUES, chunks
from qpolicy.lang.parser import parse
from qpolicy.lang.source import Source

WIDTH: Final = 100
INDENT: Final = "    "

_CLOSE_BEFORE: Final = frozenset({"_COMMA", "_COLON", "_RPAR"})


@dataclass(slots=True)
class _Word:
    """A token of a statement with the comments that follow it.

    Attributes:
        text: The token.
        kind: Its terminal.
        depth: How many parentheses are open after it.
        beside: The comment at the end of its line, or None.
        below: The comments on lines of their own between it and the next token.
    """

    text: str
    kind: str
    depth: int
    beside: str | None = None
    below: list[str] = field(default_factory=list)


def format_source(source: Source) -> str:
    """Return a policy in its canonical layout.

    One statement stands on one line with single spaces. A statement wider than 100 columns, or with comments inside, is
    broken after the commas between its patterns; if that is not enough, also after ``and``, ``or`` and other commas.
    Comments stay with the token they follow, and at most one blank line stands between two lines.

    Args:
        source: The policy's text.

    Returns:
        A text with the same syntax tree. Formatting it again changes nothing.

    Raises:
        PolicySyntaxError: The text is not a valid policy.
    """
    parse(source)
    lines: list[str] = []
    for chunk in chunks(tokens(source)):
        lines += _chunk_lines(chunk)
    return "\n".join(_single_blanks(lines)) + "\n"


def _single_blanks(lines: list[str]) -> Iterator[str]:
    """Yield the lines without a blank one at either end or after another."""
    blank, begun = False, False
    for line in lines:
        if line and blank and begun:
            yield ""
        if line:
            yield line
        blank, begun = not line, begun or bool(line)


def _chunk_lines(chunk: list[Token]) -> Iterator[str]:
    """Yield the lines of a statement and of the comments and blank lines before it."""
    words: list[_Word] = []
    at_line_start = True
    for token in chunk:
        if token.type == "COMMENT":
            text = token.rstrip()
            if not words:
                yield text
            elif at_line_start:
                words[-1].below.append(text)
            else:
                words[-1].beside = text
        elif token.type == "NEWLINE":
            if at_line_start and not words:
                yield ""
        else:
            words.append(_word(token, words))
        at_line_start = token.type == "NEWLINE"
    yield from _statement_lines(words)


def _word(token: Token, before: list[_Word]) -> _Word:
    depth = before[-1].depth if before else 0
    depth += {"_LPAR": 1, "_RPAR": -1}.get(token.type, 0)
    return _Word(str(token), token.type, depth)


def _statement_lines(words: list[_Word]) -> list[str]:
    """Lay out one statement with as few line breaks as its width and its comments allow."""
    commented = {index for index, word in enumerate(words[:-1]) if word.beside or word.below}
    listed = {index for index, word in enumerate(words) if word.kind == "_COMMA" and not word.depth}
    anywhere = {index for index, word in enumerate(words) if word.kind in CONTINUES - {"_NOT"}}
    layouts = [commented | listed, commented | listed | anywhere]
    for breaks in layouts if commented else [set[int](), *layouts]:
        rows = _rows(words, breaks)
        if all(len(_joined(row)) <= WIDTH - len(INDENT) * (row is not rows[0]) for row in rows):
            break
    return [line for number, row in enumerate(rows) for line in _row_lines(row, INDENT if number else "")]


def _rows(words: list[_Word], breaks: set[int]) -> list[list[_Word]]:
    """Cut the words after each of these indices."""
    edges = [0, *(index + 1 for index in sorted(breaks)), len(words)]
    return [words[start:end] for start, end in pairwise(edges) if start < end]


def _row_lines(row: list[_Word], indent: str) -> Iterator[str]:
    """Yield a row with the comment at its end, and the comments below it."""
    last = row[-1]
    yield indent + _joined(row) + (f"  {last.beside}" if last.beside else "")
    yield from (INDENT + comment for comment in last.below)


def _joined(row: list[_Word]) -> str:
    """Join words by the spaces that belong between them."""
    parts: list[str] = []
    for before, word in pairwise([None, *row]):
        assert word is not None
        parts.append(f" {word.text}" if before and _is_spaced(before, word) else word.text)
    return "".join(parts)


def _is_spaced(before: _Word, word: _Word) -> bool:
    is_call = before.kind == "WORD" and word.kind == "_LPAR"
    return not (is_call or before.kind == "_LPAR" or word.kind in _CLOSE_BEFORE)
