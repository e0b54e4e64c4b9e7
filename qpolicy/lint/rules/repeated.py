"""What QP107 and QP108 share: a pattern that adds nothing to its list."""

from __future__ import annotations

from qpolicy.analysis import Analysis, Repeat
from qpolicy.analysis.translate import written
from qpolicy.lint.check import Code
from qpolicy.lint.finding import Finding, Related
from qpolicy.lint.rules.removing import without_entry


def finding(code: Code, analysis: Analysis, repeat: Repeat, how: str) -> Finding:
    """Return the finding; ``how`` says how the first pattern stands to the second."""
    source = analysis.policy.source
    inner, outer = written(repeat.inner), written(repeat.outer)
    return code.in_policy(
        f"{inner} {how} {outer}, so it adds nothing",
        source,
        repeat.inner.span,
        fix=f"delete {inner} here",
        related=(Related.at("stands in the same list", source, repeat.outer.span),),
        repair=without_entry(source, repeat.listed, repeat.inner, safe=True),
    )
