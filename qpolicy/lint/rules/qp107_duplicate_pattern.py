"""QP107: a pattern that stands twice in one list."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.repeated import finding

CODE = Code(
    "QP107",
    "duplicate-pattern",
    "warning",
    "Two patterns of one list match the same names.",
    Page(
        explanation="Patterns are compared by what they match, not by how they are written: `{q,k}_proj` and "
        "`{k,q}_proj` are the same. Often one of the two was meant to be another pattern.",
        bad=Example("qpolicy 1\n\n**.{q,k}_proj, lm_head, **.{k,q}_proj: unquantized\n"),
        good=Example("qpolicy 1\n\n**.{q,k}_proj, lm_head: unquantized\n"),
        fix="Delete one of the two, or correct it.",
        safety="safe",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report the later one of two patterns or sets that match the same names."""
    for repeat in analysis.repeats.found:
        if repeat.same:
            yield finding(CODE, analysis, repeat, "matches the same names as")


CHECK = PolicyCheck(CODE, find)
