"""The comments of a policy, each with the lines that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lark import Token

from qpolicy.lang.grammar import span_of, tokens
from qpolicy.lang.layout import TRIVIA, chunks
from qpolicy.lang.source import Source, Span


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment and the part of the policy that it belongs to.

    Attributes:
        text: The comment with its sign.
        span: Where it stands.
        alone: Whether it has its line to itself.
        lines: The first and last line that it speaks of; None for a comment that no statement follows directly.
            On lines of its own before a statement, or after its last word, a comment speaks of the whole statement.
            Inside a statement it speaks of its own line, or of the next one if it has its line to itself.
    """

    text: str
    span: Span
    alone: bool
    lines: tuple[int, int] | None


def comments(source: Source) -> Iterator[Comment]:
    """Yield the comments of a policy that parses, in order."""
    waiting: list[Token] = []
    for chunk in chunks(tokens(source)):
        words = [token for token in chunk if token.type not in TRIVIA]
        if words:
            first, last = span_of(words[0]).line, span_of(words[-1]).line
            yield from (_comment(token, True, (first, last)) for token in waiting)
            waiting = []
            yield from _inside(chunk, words)
            continue
        found = [token for token in chunk if token.type == "COMMENT"]
        if not found:
            yield from (_comment(token, True, None) for token in waiting)
            waiting = []
        waiting += found
    yield from (_comment(token, True, None) for token in waiting)


def _inside(chunk: list[Token], words: list[Token]) -> Iterator[Comment]:
    """Yield the comments of a statement's own chunk."""
    first, last = span_of(words[0]).line, span_of(words[-1]).line
    occupied = {span_of(word).line for word in words}
    for token in chunk:
        if token.type != "COMMENT":
            continue
        line = span_of(token).line
        alone = line not in occupied
        if line < first or line >= last:
            yield _comment(token, alone, (first, last))
        elif alone:
            following = min(other for other in occupied if other > line)
            yield _comment(token, True, (following, following))
        else:
            yield _comment(token, False, (line, line))


def _comment(token: Token, alone: bool, lines: tuple[int, int] | None) -> Comment:
    return Comment(str(token).rstrip(), span_of(token), alone, lines)
