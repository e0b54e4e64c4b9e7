"""QP104: a rule that applies to everything, with rules behind it."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding, Related
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.telling import first_always, lines, rules_after

CODE = Code(
    "QP104",
    "always-applies",
    "warning",
    "A rule applies to every module under all circumstances, so that no rule behind it is reached.",
    Page(
        explanation="The first rule that applies decides. This one selects every name, and its condition is true "
        "whatever the facts, so the rules behind it are dead. They are all named in this one finding.",
        bad=Example("qpolicy 1\n\nwhen draft or target: unquantized\n**.mlp.gate: quantized\n"),
        good=Example("qpolicy 1\n\n**.mlp.gate: quantized\notherwise: unquantized\n"),
        fix="Move the rule to the end, best as `otherwise`, or narrow it.",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report the first rule that always applies, unless only ``otherwise`` follows (QP105)."""
    proof = first_always(analysis)
    if proof is None:
        return
    source = analysis.policy.source
    dead = rules_after(analysis, proof)
    yield CODE.in_policy(
        f"this rule applies to every module, whatever the facts, so {lines(dead)} can never be reached",
        source,
        proof.decider.statement.span,
        fix=f"move this line behind {lines(dead[-1:])}, or say which modules it is for",
        related=tuple(Related.at("is never reached", source, decider.statement.span) for decider in dead[:6]),
    )


CHECK = PolicyCheck(CODE, find)
