"""Syntax errors as values, and the exception that carries them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qpolicy.errors import QPolicyError
from qpolicy.lang.source import Source, Span
from qpolicy.lang.tree import Statement


@dataclass(frozen=True, slots=True)
class SyntaxIssue:
    """One mistake in a policy's text.

    Attributes:
        code: One of the codes in :data:`qpolicy.lang.codes.CODES`.
        message: What is wrong, in one sentence without a full stop.
        span: Where.
        expected: What could have stood there, each in words a person reads.
        hint: What to do about it, if that is known.
        source: The text that the span belongs to.
    """

    code: str
    message: str
    span: Span
    expected: tuple[str, ...]
    hint: str | None
    source: Source

    def render(self) -> str:
        """Return the message with its place, the line with a caret, what was expected, and the hint."""
        place = f"{self.source.name}:{self.span.line}:{self.span.column}"
        parts = [f"{place}: {self.code} {self.message}", self.source.excerpt(self.span)]
        if self.expected:
            parts.append(f"expected {one_of(self.expected)}")
        if self.hint:
            parts.append(f"help: {self.hint}")
        return "\n".join(parts)


class PolicySyntaxError(QPolicyError):
    """A policy's text is not valid.

    Attributes:
        errors: The mistakes in the order of the text, at most one per statement and at least one.
        statements: The statements that could be read all the same, for further checks; never for use.
    """

    def __init__(self, errors: Sequence[SyntaxIssue], statements: Sequence[Statement] = ()) -> None:
        super().__init__("\n\n".join(issue.render() for issue in errors))
        self.errors = tuple(errors)
        self.statements = tuple(statements)


class Complaint(Exception):  # noqa: N818 - it becomes a SyntaxIssue once its source is known
    """A mistake found where the source is not at hand; :func:`qpolicy.lang.parse` turns it into an issue."""

    def __init__(
        self, code: str, message: str, span: Span, *, expected: tuple[str, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.expected = expected
        self.hint = hint

    def issue(self, source: Source) -> SyntaxIssue:
        """Return the same mistake as a value."""
        return SyntaxIssue(self.code, self.message, self.span, self.expected, self.hint, source)


def one_of(words: Sequence[str]) -> str:
    """Join words for reading: ``a``, ``a or b``, ``a, b or c``."""
    return " or ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
