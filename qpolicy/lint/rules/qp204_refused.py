"""QP204: a layer cannot be built at all."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import Layer, View

_CHECKPOINT = """\
plain  lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""

CODE = Code(
    "QP204",
    "refused",
    "error",
    "The policy or the engine refuses to build a layer.",
    Page(
        explanation="""\
A rule says `error`, or the engine would refuse the layer: no target of the config fits it, or several do.
""",
        bad=Example(policy='qpolicy 1\n\nlm_head: error "this head has no scales"\n', checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\nlm_head: unquantized\n", checkpoint=_CHECKPOINT),
        fix="Do what the reason says, or decide the layer by another rule.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report every layer that the policy refuses or the engine would."""
    for layer in view.layers:
        if layer.decision.problem == "refused":
            yield _finding(view, layer, layer.decision.reason)
        elif view.policy is None and layer.decision.native is not None and layer.decision.native.outcome == "error":
            yield _finding(view, layer, layer.decision.native.why)


def _finding(view: View, layer: Layer, reason: str) -> Finding:
    message = f"{layer.who} layer {layer.called} would not be built: {reason}"
    rule = layer.decision.rule
    if rule is not None:
        return CODE.in_policy(message, rule.source, rule.node.span, modules=layer.modules)
    plain = all(module.quantized is False for module in layer.ask.modules)
    fix = f"{layer.ask.stored}: {'unquantized' if plain else 'quantized'}"
    return CODE.finding(message, modules=layer.modules, file=view.list_file, fix=fix)


CHECK = Check(CODE, find)
