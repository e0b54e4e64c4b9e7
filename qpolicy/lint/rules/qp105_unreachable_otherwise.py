"""QP105: an ``otherwise`` that is never reached."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lang.tree import Otherwise
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.removing import without_statement
from qpolicy.lint.rules.telling import decide, related

CODE = Code(
    "QP105",
    "unreachable-otherwise",
    "warning",
    "`otherwise` is never reached: the rules before it decide every linear, MoE and head layer.",
    Page(
        explanation="`otherwise` covers the linear, MoE and `lm_head` layers that no rule decides. Here there are "
        "none, whatever a checkpoint holds.",
        bad=Example("qpolicy 1\n\nlm_head: unquantized\n**: native\notherwise: unquantized\n"),
        good=Example("qpolicy 1\n\nlm_head: unquantized\notherwise: unquantized\n"),
        fix="Delete `otherwise`, or narrow the rule that applies to everything.",
        safety="unsafe",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report an ``otherwise`` that is dead."""
    source = analysis.policy.source
    for proof in analysis.proofs:
        statement = proof.decider.statement
        if isinstance(statement, Otherwise) and proof.verdict == "dead":
            yield CODE.in_policy(
                f"`otherwise` is never reached: {decide([taken.by for taken in proof.taken])} every layer before it",
                source,
                statement.span,
                fix="delete this line, or narrow the rules before it",
                related=related(proof.taken, source),
                repair=without_statement(source, statement.span, safe=False),
            )


CHECK = PolicyCheck(CODE, find)
