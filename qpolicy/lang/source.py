"""Where something stands in a text, and how that place is shown to a person."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN = 110


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
        """Return one line without its line end; lines are counted from 1."""
        lines = self.text.split("\n")
        return lines[min(number, len(lines)) - 1].removesuffix("\r")

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets of the text."""
        line_start = self.text.rfind("\n", 0, start) + 1
        return Span(start, end, self.text.count("\n", 0, start) + 1, start - line_start + 1)

    def narrowed(self, span: Span, start: int, end: int) -> Span:
        """Return the part of a one-line span between two offsets counted from the span's start."""
        return Span(span.start + start, span.start + end, span.line, span.column + start)

    def excerpt(self, span: Span) -> str:
        """Return the span's first line with a caret line under it.

        Characters that a terminal would not print are replaced one by one; of a very long line only the part around
        the span is shown.
        """
        text = "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in self.line(span.line))
        cut = max(0, span.column - _SHOWN // 2) if len(text) > _SHOWN else 0
        shown = text[cut : cut + _SHOWN]
        indent = min(span.column - 1 - cut, len(shown))
        width = max(1, min(span.end - span.start, len(shown) - indent))
        gutter = f"{span.line} | "
        return f"{gutter}{shown}\n{' ' * (len(gutter) + indent)}{'^' * width}"
