"""Layers of which the checkpoint's list excludes some members and not others."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.built import evidence
from qpolicy.lint.view import Layer, View


def half_excluded(view: View, code: Code, *, experts: bool) -> Iterator[Finding]:
    """Report the half-excluded layers that are experts, or those that are not."""
    for layer in view.layers:
        if layer.decision.problem != "half-excluded" or (layer.ask.kind == "moe") != experts:
            continue
        yield code.finding(
            f"{layer.who} layer {layer.called} {reason_of(layer)}. On disk {evidence(layer.ask.modules)}",
            modules=layer.modules,
            file=view.list_file,
            fix=fix_as_stored(layer),
        )


def reason_of(layer: Layer) -> str:
    """Return why a layer's decision is an error, as the rest of a sentence that begins with the layer's name."""
    return layer.decision.reason.removeprefix(f"{layer.decision.module} ")


def fix_as_stored(layer: Layer) -> str:
    """Return the rule that decides all of a layer as its tensors say, or what to do where they disagree themselves."""
    stored, packed = layer.ask.stored, layer.on_disk(True)
    if packed and layer.on_disk(False):
        return f"requantize {stored} so that all of its members are stored alike; no engine can build it as it is"
    return f"{stored}: {'quantized' if packed else 'unquantized'}"
