"""Edits that take codes out of a suppression, and with the last one all of it; other text of the comment stays."""

from __future__ import annotations

from collections.abc import Sequence

from qpolicy.lang.source import Source
from qpolicy.lint.repair import Edit, Repair
from qpolicy.lint.suppressions import Named, Suppression


def without_codes(source: Source, suppression: Suppression, idle: Sequence[Named]) -> Repair:
    """Return the safe repair that removes codes from a suppression, or all of it if they are all that it names."""
    kept = [named.text for named in suppression.codes or () if named not in idle]
    if kept and suppression.codes:
        edit = Edit(suppression.codes[0].span.start, suppression.codes[-1].span.end, ", ".join(kept))
    else:
        edit = _without_instruction(source.text, suppression)
    return Repair((edit,), safe=True)


def _without_instruction(text: str, suppression: Suppression) -> Edit:
    comment, span = suppression.comment, suppression.span
    if text[comment.span.start : span.start].strip(" \t#"):
        return Edit(_before_blanks(text, span.start), span.end)
    if text[span.end : comment.span.end].strip():
        return Edit(comment.span.start, span.end, "#")
    if comment.alone:
        newline = text.find("\n", comment.span.end)
        return Edit(text.rfind("\n", 0, span.start) + 1, len(text) if newline < 0 else newline + 1)
    return Edit(_before_blanks(text, comment.span.start), comment.span.end)


def _before_blanks(text: str, at: int) -> int:
    """Return where the spaces and tabs before an offset begin."""
    return len(text[:at].rstrip(" \t"))
