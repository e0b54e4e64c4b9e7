"""QP109: a drop that never drops."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lang.tree import Drop
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck

CODE = Code(
    "QP109",
    "drop-never-fires",
    "warning",
    "The condition of a drop is never true.",
    Page(
        explanation="A drop whose condition is false or unknown drops nothing. This one is so for every checkpoint. "
        "It is not without effect all the same: where there is a drop statement, an engine's own rule for leaving "
        "drafts unquantized does not hold.",
        bad=Example("qpolicy 1\n\ndrop mtp if draft and target\n"),
        good=Example("qpolicy 1\n\ndrop mtp if draft and method == fp8\n"),
        fix="Correct the condition.",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each drop with a condition that contradicts itself."""
    source = analysis.policy.source
    for proof in analysis.proofs:
        statement = proof.decider.statement
        if isinstance(statement, Drop) and proof.verdict == "never":
            yield CODE.in_policy(
                "this drop never drops anything: its condition is never true, whatever the facts",
                source,
                statement.span,
                fix="correct the condition, or delete this line",
            )


CHECK = PolicyCheck(CODE, find)
