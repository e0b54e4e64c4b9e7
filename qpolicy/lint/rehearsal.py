"""The codes of what a rehearsal inside the engine finds."""

from __future__ import annotations

from qpolicy.lint.check import Code

CODES: dict[str, Code] = {
    code.code: code
    for code in (
        Code("QP402", "no-parameter", "error", "A stored tensor finds no parameter in the engine's model."),
        Code("QP403", "no-tensor", "error", "A parameter of the engine's model finds no stored tensor."),
        Code("QP404", "does-not-fit", "error", "A stored tensor has another shape or dtype than its parameter."),
        Code("QP405", "not-built", "error", "The engine cannot build this model."),
        Code("QP406", "against-the-disk", "error", "A layer would be built otherwise than its tensors are stored."),
        Code("QP407", "not-followed", "info", "A part of loading could not be rehearsed."),
    )
}
"""Each code with its name, usual severity and summary."""
