"""QP202: the engine would build an unquantized layer for weights that are quantized on disk."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.built import decided_by, evidence, outcome
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8    model.layers.0.self_attn.o_proj
plain  lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {
   "quant_method": "fp8", "modules_to_not_convert": ["lm_head", "model.layers.0.self_attn.o_proj"]}}
"""

CODE = Code(
    "QP202",
    "plain-for-packed",
    "error",
    "The engine would build an unquantized layer, but its weights are quantized on disk.",
    Page(
        explanation="""\
The engine builds a plain layer and then finds packed weights with their scales. Mostly an entry of the list catches
more than it should, or the engine leaves a whole draft plain by itself.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\nmodel.layers.0.self_attn.o_proj: quantized\n", checkpoint=_CHECKPOINT),
        fix="Write a rule `NAME: quantized`. Where the engine itself left the whole draft plain, write a `drop`, which "
        "takes that decision over.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Compare every layer that would stay unquantized with its tensors."""
    for layer in view.layers:
        packed = layer.on_disk(True)
        if not packed or outcome(view, layer) != "unquantized":
            continue
        nulled = any(matcher.binding.world.nulled for matcher in view.matchers) and layer.draft
        yield CODE.finding(
            f"{layer.who} layer {layer.called} would be built unquantized, but on disk {evidence(packed)}; "
            f"{decided_by(view, layer)}",
            modules=tuple(module.name for module in packed),
            file=view.list_file,
            fix="drop mtp if unquantized_on_disk(@mtp)" if nulled else f"{layer.ask.stored}: quantized",
        )


CHECK = Check(CODE, find)
