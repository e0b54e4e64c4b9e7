"""Edits that take something out of a policy; whatever holds a comment is left to people."""

from __future__ import annotations

from collections.abc import Sequence

from qpolicy.lang.source import Source, Span
from qpolicy.lang.tree import Selector
from qpolicy.lint.repair import Edit, Repair


def without_statement(source: Source, span: Span, *, safe: bool) -> Repair | None:
    """Return the repair that takes a statement out, its lines included; a comment behind it stays."""
    if "#" in source.slice(span):
        return None
    start = source.text.rfind("\n", 0, span.start) + 1
    newline = source.text.find("\n", span.end)
    end = len(source.text) if newline < 0 else newline
    behind = source.text[span.end : end]
    if behind.strip():
        return Repair((Edit(span.start, end - len(behind.lstrip())),), safe)
    return Repair((Edit(start, min(end + 1, len(source.text))),), safe)


def without_entry(source: Source, listed: Sequence[Selector], entry: Selector, *, safe: bool) -> Repair | None:
    """Return the repair that takes one entry out of a list of two or more, with the comma beside it."""
    at = next(place for place, one in enumerate(listed) if one is entry)
    edit = Edit(listed[at - 1].span.end, entry.span.end) if at else Edit(entry.span.start, listed[1].span.start)
    return None if "#" in source.text[edit.start : edit.end] else Repair((edit,), safe)
