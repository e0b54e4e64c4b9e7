"""QP401: the names that this draft class asks are not known."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

CODE = Code(
    "QP401",
    "draft-names-unknown",
    "info",
    "The table of draft names has no row for this architecture.",
    Page(
        explanation="""\
A draft asks by names of its own, often by `model.layers.0` although that is the target's first layer on disk. For this
architecture the table of draft names has no row, so its layers are checked under their stored names, and the engine may
read the list differently.
""",
        bad=Example(
            checkpoint="""\
fp8    model.layers.0.mlp.down_proj, mtp.layers.0.mlp.down_proj
{"architectures": ["NewModelForCausalLM"], "num_hidden_layers": 1, "num_nextn_predict_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": []}}
"""
        ),
        good=Example(
            checkpoint="""\
fp8    model.layers.0.mlp.down_proj, mtp.layers.0.mlp.down_proj
{"architectures": ["Qwen3NextForCausalLM"], "num_hidden_layers": 1, "num_nextn_predict_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": []}}
"""
        ),
        fix="Compare with the names that the engine asks. Rules for `@mtp` and `when draft` hold under either name.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Report a draft whose names cannot be translated."""
    if not view.checkpoint.draft_modules:
        return
    for matcher in view.matchers:
        world = matcher.binding.world
        if world.draft and world.row is None:
            arch = ", ".join(view.checkpoint.architectures) or "this checkpoint"
            yield CODE.finding(
                f"the names that {view.engine} asks for the draft of {arch} are not known; its layers were checked "
                "under their stored names, and the engine may read the list differently",
                file=str(view.checkpoint.path / "config.json"),
            )


CHECK = Check(CODE, find)
