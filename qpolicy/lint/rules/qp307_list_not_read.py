"""QP307: the checkpoint's list is in a dialect that qpolicy does not read yet."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

_CHECKPOINT = """\
fp8    model.layers.0.mlp.down_proj
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "newquant"}}
"""

CODE = Code(
    "QP307",
    "list-not-read",
    "warning",
    "The checkpoint's list is in a dialect that cannot be read, so native decisions are unknown.",
    Page(
        explanation="""\
What `native` and `excluded` come to is unknown where the list is in a dialect that qpolicy does not read. The decisions
of the policy are still compared with the tensors.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(
            policy="qpolicy 1\n\nwhen quantized_on_disk: quantized\notherwise: unquantized\n", checkpoint=_CHECKPOINT
        ),
        fix="Decide every layer by a rule.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report a list that some decision depends on and that cannot be read."""
    world = view.matchers[0].binding.world
    if world.config is None or world.reading is None or world.reading.supported or not view.consults_list:
        return
    yield CODE.finding(
        f"the list of quantization method '{world.config.method}' cannot be read as {view.engine} reads it, so what "
        "the engine makes of it was not compared with the tensors",
        file=view.list_file,
        fix="decide every layer by a rule, for instance: when not quantized_on_disk: unquantized",
    )


CHECK = Check(CODE, find)
