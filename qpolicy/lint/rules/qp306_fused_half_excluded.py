"""QP306: the checkpoint's list excludes some parts of a fused layer and not the others."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.half_excluded import half_excluded
from qpolicy.lint.view import View

CODE = Code(
    "QP306",
    "fused-half-excluded",
    "error",
    "The checkpoint's list excludes some parts of a fused layer and not the others.",
)


def find(view: View) -> Iterator[Finding]:
    """Report every half-excluded layer among the fused layers."""
    yield from half_excluded(view, CODE, experts=False)


CHECK = Check(CODE, find)
