"""QP102: a rule that earlier lines shadow in part."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lang.tree import Otherwise
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules.telling import decide, related, what

CODE = Code(
    "QP102",
    "shadowed",
    "info",
    "Earlier lines decide some of the modules that a rule applies to.",
    Page(
        explanation="This is how exceptions are written, so it is only a remark. The finding names the lines that "
        "come first, each with a module, and a module that the rule still decides.",
        bad=Example("qpolicy 1\n\nmodel.layers.0.mlp.gate: quantized\nmodel.layers.0.**: unquantized\n"),
        good=Example("qpolicy 1\n\nmodel.layers.0.mlp.gate: quantized\nmodel.layers.1.**: unquantized\n"),
        fix="Nothing, if the lines before are meant as exceptions.",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each rule and drop of which earlier lines take a part; ``otherwise`` is there for what they leave."""
    source = analysis.policy.source
    for proof in analysis.proofs:
        decider = proof.decider
        if proof.witness is None or not proof.taken or isinstance(decider.statement, Otherwise):
            continue
        yield CODE.in_policy(
            f"{decide([taken.by for taken in proof.taken])} some modules that this {what(decider)} applies to; "
            f"it still decides {proof.witness.text}",
            source,
            decider.statement.span,
            related=related(proof.taken, source),
        )


CHECK = PolicyCheck(CODE, find)
