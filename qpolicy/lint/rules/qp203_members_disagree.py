"""QP203: the rules decide the members of one fused layer differently."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.half_excluded import fix_as_stored, reason_of
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8    model.layers.0.self_attn.{q,k,v}_proj
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": []}}
"""

CODE = Code(
    "QP203",
    "members-disagree",
    "error",
    "The members of one fused or experts layer are decided differently.",
    Page(
        explanation="""\
An engine builds some modules as one layer: `qkv_proj`, or all experts of a layer. Such a layer is plain or packed as a
whole, so its parts cannot be decided differently. qpolicy never guesses which of them is meant.
""",
        bad=Example(policy="qpolicy 1\n\n**.q_proj: unquantized\n", checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\n**.qkv_proj: quantized\n", checkpoint=_CHECKPOINT),
        fix="Write one rule for the layer, by its fused name or by the name of its experts.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report every layer whose members disagree."""
    for layer in view.layers:
        if layer.decision.problem != "disagree":
            continue
        fix = fix_as_stored(layer)
        message = f"{layer.who} layer {layer.called} {reason_of(layer)}"
        rule = layer.decision.rule
        if rule is None:
            yield CODE.finding(message, modules=layer.modules, file=view.list_file, fix=fix)
        else:
            yield CODE.in_policy(message, rule.source, rule.node.span, modules=layer.modules, fix=fix)


CHECK = Check(CODE, find)
