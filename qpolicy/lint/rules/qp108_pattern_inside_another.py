"""QP108: a pattern whose names another one of its list matches as well."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.repeated import finding

CODE = Code(
    "QP108",
    "pattern-inside-another",
    "warning",
    "Every name that a pattern matches is matched by another pattern of the same list.",
    Page(
        explanation="The smaller pattern adds nothing. Often the larger one is wider than it was meant to be.",
        bad=Example("qpolicy 1\n\nmodel.visual.**, model.visual.patch_embed: unquantized\n"),
        good=Example("qpolicy 1\n\nmodel.visual.**: unquantized\n"),
        fix="Delete the smaller pattern, or narrow the larger one.",
        safety="safe",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each pattern or set that lies inside another one of its list."""
    for repeat in analysis.repeats.found:
        if not repeat.same:
            yield finding(CODE, analysis, repeat, "matches no name that is not matched by")


CHECK = PolicyCheck(CODE, find)
