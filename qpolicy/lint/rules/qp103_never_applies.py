"""QP103: a rule that applies to nothing."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lang.tree import Drop
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.removing import without_statement

CODE = Code(
    "QP103",
    "never-applies",
    "warning",
    "A rule applies to no module whatsoever: its condition contradicts itself or its patterns.",
    Page(
        explanation="A rule applies where its condition is true. A condition such as `draft and target` never is, and "
        "one such as `path in mtp.**` never is for a module that `model.**` selects. Facts about tensors are unknown "
        "for a name without tensors, and an unknown condition does not apply either.",
        bad=Example("qpolicy 1\n\nwhen kind == moe and kind == linear: unquantized\n"),
        good=Example("qpolicy 1\n\nwhen kind in (moe, linear): unquantized\n"),
        fix="Correct the condition, or delete the rule.",
        safety="unsafe",
    ),
)

_REASONS = {
    "condition": "its condition is never true, whatever the facts",
    "names": "its condition is never true for a module of a name that it selects",
}


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each rule that never applies; drops have a code of their own (QP109)."""
    source = analysis.policy.source
    for proof in analysis.proofs:
        statement = proof.decider.statement
        if proof.verdict == "never" and not isinstance(statement, Drop):
            yield CODE.in_policy(
                f"this rule never applies: {_REASONS[proof.reason]}",
                source,
                statement.span,
                fix="correct the condition, or delete this line",
                repair=without_statement(source, statement.span, safe=False),
            )


CHECK = PolicyCheck(CODE, find)
