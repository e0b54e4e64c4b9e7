"""QP306: the checkpoint's list excludes some parts of a fused layer and not the others."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.half_excluded import half_excluded
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8  model.layers.0.mlp.down_proj, mtp.layers.0.self_attn.{q,k,v}_proj
{"architectures": ["Qwen3NextForCausalLM"], "num_hidden_layers": 1, "num_nextn_predict_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["mtp.layers.0.self_attn.q_proj"]}}
"""

CODE = Code(
    "QP306",
    "fused-half-excluded",
    "error",
    "The checkpoint's list excludes some parts of a fused layer and not the others.",
    Page(
        explanation="""\
An engine builds the parts of a fused layer as one. If the list excludes some of them and not the others, the engine
refuses the layer (then it is reported as QP204), or takes one of the parts for all of them. In the example it asks for
the draft as `model.layers.0`, and the entry speaks to nobody.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\n@mtp.qkv_proj: quantized\n", checkpoint=_CHECKPOINT),
        fix="Write a rule for the layer if all of its parts are stored alike; if not, quantize it again.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report every half-excluded layer among the fused layers."""
    yield from half_excluded(view, CODE, experts=False)


CHECK = Check(CODE, find)
