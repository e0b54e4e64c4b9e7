"""QP207: an ``expect`` line of the policy does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.bind import Expectation, run_expectations
from qpolicy.bind.explain import verdict
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8    model.layers.0.mlp.down_proj
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": []}}
"""

CODE = Code(
    "QP207",
    "expectation-failed",
    "error",
    "An expect line of the policy does not hold.",
    Page(
        explanation="""\
An `expect` line says what a policy is meant to do, and here it does something else, or the line selects no module.
""",
        bad=Example(policy="qpolicy 1\n\nexpect **.down_proj: unquantized\n", checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\nexpect **.down_proj: quantized\n", checkpoint=_CHECKPOINT),
        fix="Correct the rule or the expectation; `qpolicy test` explains each decision.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Run every ``expect`` line."""
    if view.policy is None:
        return
    results = run_expectations(view.policy, view.checkpoint, engine=view.engine, standalone=view.standalone)
    for result in results:
        if not result.met:
            yield CODE.in_policy(_told(result), view.policy.source, result.expect.span, modules=_modules(result))


def _told(result: Expectation) -> str:
    decision = result.decision
    if decision is None:
        return f"'{result.text}' selects no module of this checkpoint"
    who = "draft" if result.draft else "target"
    because = f": {decision.reason}" if decision.reason else ""
    return f"'{result.text}': {who} layer {decision.module} is {verdict(decision)}{because}"


def _modules(result: Expectation) -> tuple[str, ...]:
    return () if result.decision is None else tuple(member.name for member in result.decision.members)


CHECK = Check(CODE, find)
