"""QP203: the rules decide the members of one fused layer differently."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

CODE = Code(
    "QP203",
    "members-disagree",
    "error",
    "The members of one fused or experts layer are decided differently.",
)


def find(view: View) -> Iterator[Finding]:
    """Report every layer whose members disagree."""
    for layer in view.layers:
        if layer.decision.problem != "disagree":
            continue
        fix = f"{layer.ask.stored}: unquantized"
        message = f"{layer.who} layer {layer.called}: {layer.decision.reason}"
        rule = layer.decision.rule
        if rule is None:
            yield CODE.finding(message, modules=layer.modules, file=view.list_file, fix=fix)
        else:
            yield CODE.in_policy(message, rule.source, rule.node.span, modules=layer.modules, fix=fix)


CHECK = Check(CODE, find)
