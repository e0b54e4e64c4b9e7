"""QP303: the draft is stored unquantized, but the checkpoint's list does not say so."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.built import unasked
from qpolicy.lint.view import Layer, View

_CHECKPOINT = """\
plain  model.layers.0.self_attn.o_proj
fp8    model.layers.0.mlp.down_proj
plain  mtp.layers.0.self_attn.o_proj
{"architectures": ["Qwen3NextForCausalLM"], "num_hidden_layers": 1, "num_nextn_predict_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.self_attn.o_proj"]}}
"""

CODE = Code(
    "QP303",
    "draft-not-listed",
    "warning",
    "Draft modules are stored unquantized, but no entry of the checkpoint's list covers them.",
    Page(
        explanation="""\
The draft head was left unquantized, but the list does not say so. In the example SGLang happens to ask for the draft's
layer as `model.layers.0`, where an entry for the target answers; another engine, or the next version, will not.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\n@mtp.**: unquantized\n", checkpoint=_CHECKPOINT),
        fix="Write a rule for the draft, or entries in the list.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Collect the draft's plain modules that no entry covers, where the answer still depends on the list."""
    if not view.checkpoint.draft_modules:
        return
    missed = tuple(
        name for layer in view.layers if layer.draft and not unasked(view, layer) for name in _unlisted(view, layer)
    )
    if not missed:
        return
    are = "one module of the draft is" if len(missed) == 1 else f"{len(missed)} modules of the draft are"
    yield CODE.finding(
        f"{are} not quantized on disk, but no entry of the checkpoint's list covers them",
        modules=missed,
        file=view.list_file,
        fix="when draft and not quantized_on_disk: unquantized",
    )


def _unlisted(view: View, layer: Layer) -> Iterator[str]:
    for matcher in view.matchers:
        world = matcher.binding.world
        if not world.draft or world.producer is None or not world.producer.supported:
            continue
        undecided = {member.name for member in layer.decision.members if member.action == "native"}
        for module in layer.ask.modules:
            listed = matcher.binding.facts.excluded(module.name, layer.ask.kind)
            if module.quantized is False and listed is False and module.name in undecided:
                yield module.name


CHECK = Check(CODE, find)
