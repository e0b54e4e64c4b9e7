"""Where something stands in a text, and how that place is shown to a person."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of a text.

    Attributes:
        start: Offset of the first character, in characters from the start of the text.
        end: Offset after the last character.
        line: Line of the first character, counted from 1.
        column: Column of the first character, counted from 1.
    """

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Source:
    """A policy's text and the name that messages call it by."""

    name: str
    text: str

    def slice(self, span: Span) -> str:
        """Return the text that a span covers."""
        return self.text[span.start : span.end]

    def line(self, number: int) -> str:
        """Return one line without its newline; lines are counted from 1."""
        lines = self.text.splitlines() or [""]
        return lines[min(number, len(lines)) - 1]

    def narrowed(self, span: Span, start: int, end: int) -> Span:
        """Return the part of a one-line span between two offsets counted from the span's start."""
        return Span(span.start + start, span.start + end, span.line, span.column + start)

    def excerpt(self, span: Span) -> str:
        """Return the span's first line with a caret line under it."""
        text = self.line(span.line).replace("\t", " ")
        width = max(1, min(span.end - span.start, len(text) - span.column + 1))
        gutter = f"{span.line} | "
        return f"{gutter}{text}\n{' ' * (len(gutter) + span.column - 1)}{'^' * width}"
