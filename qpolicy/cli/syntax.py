"""Syntax errors as findings, so that they are reported like any other."""

from __future__ import annotations

from qpolicy.lang import PolicySyntaxError, SyntaxIssue
from qpolicy.lang.codes import CODES
from qpolicy.lang.issue import one_of
from qpolicy.lint.finding import Finding

_NAMES = {code.code: code.name for code in CODES}


def findings_of(error: PolicySyntaxError) -> tuple[Finding, ...]:
    """Return one finding for each mistake in a policy's text."""
    return tuple(_finding(issue) for issue in error.errors)


def _finding(issue: SyntaxIssue) -> Finding:
    expected = f"; expected {one_of(issue.expected)}" if issue.expected else ""
    return Finding(
        code=issue.code,
        name=_NAMES.get(issue.code, "syntax"),
        severity="error",
        message=issue.message + expected,
        file=issue.source.name,
        line=issue.span.line,
        column=issue.span.column,
        fix=issue.hint,
        excerpt=issue.source.excerpt(issue.span),
    )
