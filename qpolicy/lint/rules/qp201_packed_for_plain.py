"""QP201: the engine would build a quantized layer for weights that are not quantized on disk."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.built import decided_by, evidence, outcome, unasked
from qpolicy.lint.view import Layer, View

_CHECKPOINT = """\
fp8    model.layers.0.self_attn.o_proj
plain  model.layers.0.mlp.down_proj, lm_head
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
"""

CODE = Code(
    "QP201",
    "packed-for-plain",
    "error",
    "The engine would build a quantized layer, but its weights are not quantized on disk.",
    Page(
        explanation="""\
The engine builds a layer for packed weights and then finds plain ones. At best loading stops with an error that names
no cause, at worst the weights are converted and nobody notices. Mostly the list in the config forgot the module, or
spells it in a way that this engine reads differently.

It is only a warning for a layer that some model classes build without asking, such as a router or `mtp.fc`.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\nmodel.layers.0.mlp.down_proj: unquantized\n", checkpoint=_CHECKPOINT),
        fix="Write a rule `NAME: unquantized`, or an entry in the list.",
    ),
)
_UNSURE = (
    ". Some model classes build this layer without asking the list, and then it loads; "
    "the table of architectures does not say whether this one does"
)


def find(view: View) -> Iterator[Finding]:
    """Compare every layer that would be quantized with its tensors."""
    for layer in view.layers:
        plain = layer.on_disk(False)
        if plain and outcome(view, layer) == "quantized":
            yield _finding(view, layer)


def _finding(view: View, layer: Layer) -> Finding:
    plain = layer.on_disk(False)
    unsure = unasked(view, layer) is None
    message = (
        f"{layer.who} layer {layer.called} would be built quantized, but on disk {evidence(plain)}; "
        f"{decided_by(view, layer)}"
    )
    return CODE.finding(
        message + _UNSURE if unsure else message,
        modules=tuple(module.name for module in plain),
        file=view.list_file,
        fix=f"{layer.ask.stored}: unquantized",
        severity="warning" if unsure else "error",
    )


CHECK = Check(CODE, find)
