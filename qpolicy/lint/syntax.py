"""Syntax errors as findings, so that they are reported like any other, and the pages of their codes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from qpolicy.lang import PolicySyntaxError, SyntaxIssue
from qpolicy.lang.codes import CODES
from qpolicy.lang.issue import one_of
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding

_CODES = {code.code: code for code in CODES}


def findings_of(error: PolicySyntaxError) -> tuple[Finding, ...]:
    """Return one finding for each mistake in a policy's text."""
    return tuple(_finding(issue) for issue in error.errors)


def _finding(issue: SyntaxIssue) -> Finding:
    expected = f"; expected {one_of(issue.expected)}" if issue.expected else ""
    code = _CODES[issue.code]
    return Code(code.code, code.name, "error", code.meaning).in_policy(
        issue.message + expected, issue.source, issue.span, fix=issue.hint
    )


def syntax_code(code: str) -> Code:
    """Return the code of a syntax error with its page.

    Raises:
        KeyError: It is no such code.
    """
    known, page = _CODES[code], _pages()[code]
    bad, good = (Example(page[which].removeprefix("\n")) for which in ("bad", "good"))
    return Code(known.code, known.name, "error", known.meaning, Page(page["why"].strip(), bad, good, page["fix"]))


@cache
def _pages() -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - only pages need it

    return tomllib.loads(Path(__file__).with_name("syntax_pages.toml").read_text(encoding="utf-8"))
