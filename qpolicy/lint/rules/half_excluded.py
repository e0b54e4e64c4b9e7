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
            f"{layer.who} layer {layer.called} {_reason(layer)}. On disk {evidence(layer.ask.modules)}",
            modules=layer.modules,
            file=view.list_file,
            fix=_fix(layer.ask.stored, len(layer.on_disk(True)), len(layer.on_disk(False))),
        )


def _reason(layer: Layer) -> str:
    return layer.decision.reason.removeprefix(f"{layer.decision.module} ")


def _fix(stored: str, packed: int, plain: int) -> str:
    if packed and plain:
        return f"requantize {stored} so that all of its members are stored alike; no engine can build it as it is"
    return f"{stored}: {'quantized' if packed else 'unquantized'}"
