"""QP201: the engine would build a quantized layer for weights that are not quantized on disk."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.bind.unasked import built_unasked
from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.built import decided_by, evidence, outcome
from qpolicy.lint.view import Layer, View

CODE = Code(
    "QP201",
    "packed-for-plain",
    "error",
    "The engine would build a quantized layer, but its weights are not quantized on disk.",
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
    unsure = any(
        built_unasked(matcher.binding.world, layer.ask.stored) is None
        for matcher in view.matchers
        if matcher.binding.world.draft == layer.draft
    )
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
