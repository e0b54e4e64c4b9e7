"""Text to syntax tree: the whole way, and the gathering of every mistake on it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from lark import Token, UnexpectedToken

from qpolicy.lang.build import Parsed, build
from qpolicy.lang.check import check
from qpolicy.lang.decode import check_text
from qpolicy.lang.diagnose import diagnose
from qpolicy.lang.grammar import end_of, machine, span_of, tokens
from qpolicy.lang.issue import Complaint, PolicySyntaxError
from qpolicy.lang.layout import check_nesting, check_tabs, chunks, statement
from qpolicy.lang.script import MAX_ISSUES, VERSION, Script
from qpolicy.lang.source import Source
from qpolicy.lang.tree import Document, Statement, Version


def parse(source: Source) -> Document:
    """Parse a policy.

    Args:
        source: The policy's text and its name for messages.

    Returns:
        The syntax tree. It is returned only for a text that is right as a whole.

    Raises:
        PolicySyntaxError: It carries every mistake found, at most one for each statement.
    """
    check_text(source)
    script, complaints = _read(source)
    complaints += check(script)
    if complaints:
        issues = [complaint.issue(source) for complaint in _one_each(complaints, script)]
        raise PolicySyntaxError(issues, script.statements)
    return Document(script.statements, span=source.span(0, len(source.text)))


def _read(source: Source) -> tuple[Script, list[Complaint]]:
    """Parse statement by statement, going on after each mistake."""
    statements: list[Statement] = []
    broken: list[list[Token]] = []
    complaints: list[Complaint] = []
    for words in _statements(source, complaints):
        try:
            check_tabs(words)
            check_nesting(words)
            statements.append(build(_accept(words)))
        except Complaint as complaint:
            complaints.append(complaint)
            broken.append(words)
        if len(complaints) >= MAX_ISSUES or _is_foreign(statements):
            break
    return _script(statements, broken, source), complaints


def _is_foreign(statements: list[Statement]) -> bool:
    """Whether the text is of another version, whose statements cannot be judged here."""
    return len(statements) == 1 and isinstance(statements[0], Version) and statements[0].number != VERSION


def _script(statements: list[Statement], broken: list[list[Token]], source: Source) -> Script:
    spans = tuple(span_of(words[0], words[-1]) for words in broken)
    lost = frozenset(str(words[1]).strip('"') for words in broken if words[0].type == "_LET" and len(words) > 1)
    lost_version = not statements and bool(broken) and broken[0][0].type == "_QPOLICY"
    firsts = [nodes[0] for nodes in ([s.span for s in statements], spans) if nodes]
    start = min(firsts, key=lambda span: span.start, default=source.span(0, 0))
    return Script(tuple(statements), spans, lost_version, lost, start)


def _statements(source: Source, complaints: list[Complaint]) -> Iterator[list[Token]]:
    try:
        for chunk in chunks(tokens(source)):
            words = statement(chunk)
            if words:
                yield words
    except Complaint as complaint:
        complaints.append(complaint)


def _accept(words: list[Token]) -> Parsed:
    """Feed a statement to the grammar."""
    accepting = machine()
    for index, token in enumerate(words):
        try:
            accepting.feed_token(token)
        except UnexpectedToken:
            raise diagnose(words, index) from None
    try:
        parsed: Parsed = accepting.feed_token(end_of(words[-1]))
    except UnexpectedToken:
        raise diagnose(words, len(words)) from None
    return parsed


def _one_each(complaints: list[Complaint], script: Script) -> list[Complaint]:
    """Sort complaints by place and keep the first of each statement."""
    starts = sorted([*(node.span.start for node in script.statements), *(span.start for span in script.broken)])
    kept: dict[int, Complaint] = {}
    for complaint in sorted(complaints, key=lambda one: one.span.start):
        kept.setdefault(bisect_right(starts, complaint.span.start), complaint)
    return list(kept.values())[:MAX_ISSUES]
