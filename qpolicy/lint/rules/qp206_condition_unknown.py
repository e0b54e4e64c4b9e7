"""QP206: a rule was not applied because its condition is unknown."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.bind import BoundRule
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8    model.layers.0.mlp.down_proj
plain  lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""

CODE = Code(
    "QP206",
    "condition-unknown",
    "warning",
    "A rule was not applied to modules because its condition could not be told true or false for them.",
    Page(
        explanation="""\
A fact is unknown when nothing can be said: no tensors under that name, no readable header, a pattern that selects no
module, a list that is not read. A rule whose condition is unknown does not apply, and a drop does not drop, so that
nothing is ever true only because a name was wrong.
""",
        bad=Example(policy="qpolicy 1\n\nwhen quantized_on_disk(@mtp): quantized\n", checkpoint=_CHECKPOINT),
        good=Example(
            policy="qpolicy 1\n\nwhen exists(@mtp) and quantized_on_disk(@mtp): quantized\n", checkpoint=_CHECKPOINT
        ),
        fix="Correct the name, or ask another fact first. With `--strict` it is an error where it would have mattered.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report each rule once, with the modules for which its condition is unknown."""
    unknown: dict[BoundRule, list[str]] = {}
    for layer in view.layers:
        for member in layer.decision.members:
            for rule in member.skipped:
                unknown.setdefault(rule, []).append(member.name)
    for rule, modules in unknown.items():
        count = f"{len(modules)} modules" if len(modules) > 1 else modules[0]
        yield CODE.in_policy(
            f"this rule was not applied to {count}: the condition is unknown there, because the facts it asks for "
            "cannot be read from this checkpoint",
            rule.source,
            rule.node.span,
            modules=tuple(modules),
        )
    yield from _drops(view)


def _drops(view: View) -> Iterator[Finding]:
    for matcher in view.matchers[-1:]:
        for drop in matcher.binding.drops:
            if drop.truth is None and matcher.binding.world.draft:
                yield CODE.in_policy(
                    "this drop does not drop: its condition is unknown, because its pattern selects no stored module "
                    "or the facts it asks for cannot be read from this checkpoint",
                    drop.rule.source,
                    drop.rule.node.span,
                )


CHECK = Check(CODE, find)
