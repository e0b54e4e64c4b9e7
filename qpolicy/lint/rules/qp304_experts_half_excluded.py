"""QP304: the checkpoint's list excludes some experts of one layer and not the others."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.half_excluded import half_excluded
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8    model.layers.0.mlp.experts.{0..1}.up_proj
{"architectures": ["Qwen3MoeForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp.experts.1.up_proj"]}}
"""

CODE = Code(
    "QP304",
    "experts-half-excluded",
    "error",
    "The checkpoint's list excludes some experts of one layer and not the others.",
    Page(
        explanation="""\
An engine builds all experts of a layer as one. A list that excludes some of them and not the others has no meaning
that every engine would agree on: some take one expert for all of them, some for none.
""",
        bad=Example(policy="qpolicy 1\n\notherwise: native\n", checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\n**.mlp.experts: quantized\n", checkpoint=_CHECKPOINT),
        fix="Write a rule for the layer if all of its experts are stored alike; if not, quantize it again.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report every half-excluded layer among the experts."""
    yield from half_excluded(view, CODE, experts=True)


CHECK = Check(CODE, find)
