"""The edits of common repairs. None of them removes a comment, but for a suppression that is of no use."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token

from qpolicy.lang.comments import comments
from qpolicy.lang.grammar import span_of, tokens
from qpolicy.lang.layout import TRIVIA
from qpolicy.lang.source import Source, Span
from qpolicy.lint.repair import Edit, Repair
from qpolicy.lint.suppressions import Named, Suppression

_BLANKS = " \t"


def without_statement(source: Source, statement: Span) -> Repair:
    """Return the safe repair that removes a statement; comments inside it or at its end stay on lines of their own."""
    text = source.text
    start, end = _line_start(text, statement.start), _line_end(text, statement.end)
    kept = [comment.text for comment in comments(source) if start <= comment.span.start < end]
    if not kept and _is_blank_before(text, start) and text.startswith(("\n", "\r\n"), end):
        end = _line_end(text, end)
    return Repair((Edit(start, end, "".join(f"{one}\n" for one in kept)),), safe=True)


def without_selector(source: Source, selector: Span) -> Repair | None:
    """Return the safe repair that removes a pattern or set from a list of several.

    Returns:
        The repair; None for the only one of its list, and where a comment stands in the way.
    """
    words = [token for token in tokens(source) if token.type != "NEWLINE"]
    at = next(index for index, token in enumerate(words) if token.start_pos == selector.start)
    following = next((token for token in words[at + 1 :] if token.type not in TRIVIA), None)
    if following is not None and following.type == "_COMMA":
        return _safe(_with_comma_after(source.text, selector.start, span_of(following).end))
    before: Token | None = words[at - 1] if at else None
    if before is None or before.type != "_COMMA":
        return None
    return _safe(Edit(span_of(before).start, selector.end))


def without_codes(source: Source, suppression: Suppression, idle: Sequence[Named]) -> Repair:
    """Return the safe repair that removes codes from a suppression, and what is then left of it without a use."""
    kept = [named.text for named in suppression.codes or () if named not in idle]
    if kept and suppression.codes:
        return _safe(Edit(suppression.codes[0].span.start, suppression.codes[-1].span.end, ", ".join(kept)))
    return _safe(_without_instruction(source.text, suppression))


def _safe(edit: Edit) -> Repair:
    return Repair((edit,), safe=True)


def _with_comma_after(text: str, start: int, end: int) -> Edit:
    """Return the edit that removes a selector and the comma after it, with the line if nothing else stands there."""
    line = _line_start(text, start)
    while text[end : end + 1] in _BLANKS and end < len(text):
        end += 1
    if text.startswith(("\n", "\r\n"), end):
        if not text[line:start].strip(_BLANKS):
            return Edit(line, _line_end(text, end))
        while text[start - 1] in _BLANKS:
            start -= 1
    return Edit(start, end)


def _without_instruction(text: str, suppression: Suppression) -> Edit:
    comment, span = suppression.comment, suppression.span
    before = text[comment.span.start : span.start].strip(" \t#")
    after = text[span.end : comment.span.end].strip()
    if before:
        return Edit(_back(text, span.start), span.end)
    if after:
        return Edit(comment.span.start, span.end, "#")
    if comment.alone:
        return Edit(_line_start(text, span.start), _line_end(text, comment.span.end))
    return Edit(_back(text, comment.span.start), comment.span.end)


def _back(text: str, at: int) -> int:
    """Return where the blanks before an offset begin."""
    return len(text[:at].rstrip(_BLANKS))


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Return the offset after the newline that ends a line."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _is_blank_before(text: str, start: int) -> bool:
    return not start or not text[_line_start(text, start - 1) : start].strip()
