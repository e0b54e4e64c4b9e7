"""QP101: a rule that is never reached."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis, Proof
from qpolicy.lang.tree import Otherwise
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.removing import without_statement
from qpolicy.lint.rules.telling import decide, first_always, lines, related, what

CODE = Code(
    "QP101",
    "dead-rule",
    "warning",
    "A rule is never reached: earlier lines decide every module that it applies to.",
    Page(
        explanation="The first rule that applies decides. Whatever this rule applies to, some earlier line applies to "
        "as well, under every combination of facts, so the rule never decides anything. Mostly an exception was "
        "written behind the general rule that it should come before.",
        bad=Example("qpolicy 1\n\nmodel.layers.0.**: unquantized\nmodel.layers.0.mlp.gate: quantized\n"),
        good=Example("qpolicy 1\n\nmodel.layers.0.mlp.gate: quantized\nmodel.layers.0.**: unquantized\n"),
        fix="Move the rule before the lines that are named, or delete it.",
        safety="unsafe",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each dead rule and drop, except those behind a rule that always applies (QP104)."""
    always = first_always(analysis)
    for proof in analysis.proofs:
        if proof.verdict != "dead" or isinstance(proof.decider.statement, Otherwise):
            continue
        if always is None or proof.decider.index < always.decider.index:
            yield _finding(analysis, proof)


def _finding(analysis: Analysis, proof: Proof) -> Finding:
    source, span = analysis.policy.source, proof.decider.statement.span
    earlier = [taken.by for taken in proof.taken]
    example = proof.taken[0]
    return CODE.in_policy(
        f"this {what(proof.decider)} is never reached: {decide(earlier)} every module that it applies to, "
        f"for instance {example.where.text} by line {example.by.line}",
        source,
        span,
        fix=f"delete this line, or move it before {lines(earlier[:1])}",
        related=related(proof.taken, source),
        repair=without_statement(source, span, safe=False),
    )


CHECK = PolicyCheck(CODE, find)
