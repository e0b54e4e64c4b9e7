"""QP302: an entry of the checkpoint's list catches a module that it does not name."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis.entries import Caught, siblings
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.entries import called, listened, some
from qpolicy.lint.view import Layer, View

_CHECKPOINT = """\
plain   model.layers.0.mlp.gate
plain   model.layers.0.mlp.gate_proj
plain   model.layers.0.mlp.up_proj
{"quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized",
 "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group",
 "group_size": 32}}}, "ignore": ["re:.*mlp.gate", "re:.*mlp.up_proj"]}}
"""

CODE = Code(
    "QP302",
    "entry-catches-sibling",
    "info",
    "An entry of the checkpoint's list catches a module that neither it nor another entry names.",
    Page(
        explanation="""\
An entry may catch more than it says: a substring takes half a segment for a whole one, a regular expression has no
end, an ending has no beginning, and `layers.1` begins `layers.11`. In the example `gate_proj` begins like `gate`. A
module that is caught so is built unquantized whatever its tensors are. Where it is plain on disk as well, as here, that
is only a remark; where it is packed, it is a warning beside QP202.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(checkpoint=_CHECKPOINT.replace('"re:.*mlp.gate"', '"re:.*mlp.(gate|gate_proj)$"')),
        fix="Write the entry out to its end (`re:.*\\.mlp\\.gate$`), or decide the module by a rule.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Collect the modules that a list excludes although none of its entries names them."""
    for matcher, layers in listened(view):
        answered = [(layer.ask, layer.decision.native) for layer in layers if layer.decision.native is not None]
        for caught in siblings(matcher, [(ask, answer) for ask, answer in answered if answer is not None]):
            yield _finding(view, layers, caught)


def _finding(view: View, layers: list[Layer], caught: Caught) -> Finding:
    stored = view.checkpoint.modules
    packed = [name for name in caught.modules if name in stored and stored[name].quantized]
    who = "draft" if layers[0].draft else "target"
    agree = "" if packed else "; no harm yet, for it is plain on disk"
    return CODE.finding(
        f"{view.engine} lets {called(caught.entries)} exclude {some(packed or caught.modules)} of the {who} as well, "
        f"which no entry names{agree}",
        modules=caught.modules,
        file=view.list_file,
        fix=f"{(packed or caught.modules)[0]}: {'quantized' if packed else 'unquantized'}",
        severity="warning" if packed else "info",
    )


CHECK = Check(CODE, find)
