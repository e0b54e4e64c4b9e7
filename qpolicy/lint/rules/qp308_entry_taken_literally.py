"""QP308: an entry is written in a syntax that this engine compares letter by letter."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis.entries import Literal, taken_literally
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.entries import called, listened, some
from qpolicy.lint.view import View

_CHECKPOINT = """\
packed  model.layers.0.mlp.down_proj
{"quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized",
 "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group",
 "group_size": 32}}}, "ignore": ["Linear"]}}
"""
_WORDS = {"regex": "a regular expression", "glob": "a glob", "class": "the name of a class"}

CODE = Code(
    "QP308",
    "entry-taken-literally",
    "warning",
    "An entry is a class name, a glob or a regular expression, and this engine compares it letter by letter.",
    Page(
        explanation="""\
Each engine understands a syntax of its own. SGLang reads `re:` in a compressed-tensors or Quark list, and neither `re:`
nor `*` in an fp8 list; a class name such as `Linear` counts only as a target. Such an entry then fits no module,
without a word. Reported only while a module that it would name is not excluded by another entry.
""",
        bad=Example(checkpoint=_CHECKPOINT),
        good=Example(checkpoint=_CHECKPOINT.replace('["Linear"]}}', "[]}}")),
        fix="Write the names out, or say it in a policy, which every engine reads alike.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Find entries that are lost on this engine and would have excluded a module that is not."""
    for matcher, layers in listened(view):
        lost = {
            module.name
            for layer in layers
            if layer.decision.native is not None and layer.decision.native.outcome != "unquantized"
            for module in layer.ask.modules
        }
        for literal in taken_literally(matcher.binding.world, lost):
            if literal.modules:
                yield _finding(view, literal)


def _finding(view: View, literal: Literal) -> Finding:
    how = " or ".join(literal.operators) or "plain text"
    return CODE.finding(
        f"{called(literal.entries)} reads as {_WORDS[literal.syntax]} that names {some(literal.modules)}, but "
        f"{view.engine} compares it letter by letter ({how})",
        modules=literal.modules,
        file=view.list_file,
        fix=f"{literal.modules[0]}: unquantized",
    )


CHECK = Check(CODE, find)
