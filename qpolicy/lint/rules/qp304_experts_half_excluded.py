"""QP304: the checkpoint's list excludes some experts of one layer and not the others."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.half_excluded import half_excluded
from qpolicy.lint.view import View

CODE = Code(
    "QP304",
    "experts-half-excluded",
    "error",
    "The checkpoint's list excludes some experts of one layer and not the others.",
)


def find(view: View) -> Iterator[Finding]:
    """Report every half-excluded layer among the experts."""
    yield from half_excluded(view, CODE, experts=True)


CHECK = Check(CODE, find)
