"""QP106: a set that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.removing import without_statement

CODE = Code(
    "QP106",
    "unused-set",
    "warning",
    "A `let` names a set that no rule, drop or expectation uses.",
    Page(
        explanation="A set that only unused sets use is unused as well. Often a rule was meant to say `@NAME` and "
        "spells out a pattern instead.",
        bad=Example("qpolicy 1\n\nlet routers = **.mlp.gate\n\nlm_head: unquantized\n"),
        good=Example("qpolicy 1\n\nlet routers = **.mlp.gate\n\nlm_head, @routers: unquantized\n"),
        fix="Use the set, or delete the line.",
        safety="safe",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each unused set at its name."""
    source = analysis.policy.source
    for let in analysis.unused:
        yield CODE.in_policy(
            f"nothing uses the set @{let.name}",
            source,
            let.name_span,
            fix=f"write @{let.name} in a rule, or delete this line",
            repair=without_statement(source, let.span, safe=True),
        )


CHECK = PolicyCheck(CODE, find)
