"""Reporters: findings become text for people or a document for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from qpolicy.lint.reporters.checked import Checked
from qpolicy.lint.reporters.paint import Paint, plain

__all__ = ["REPORTERS", "Checked", "Reporter", "render"]

Reporter: TypeAlias = Callable[[Sequence[Checked], Paint, int], str]
"""Takes what was checked, a colouring and a width in characters; returns the report, its last newline included."""

REPORTERS: Mapping[str, str] = MappingProxyType(
    {"text": "text", "concise": "concise", "json": "as_json", "sarif": "sarif", "github": "github"}
)
"""Each format with its module in this package, which is imported when it is used and holds ``report``."""


def render(checked: Sequence[Checked], format: str = "text", *, paint: Paint = plain, width: int = 100) -> str:
    """Return the report on what was checked.

    Args:
        checked: Each checkpoint or file with its findings, in order.
        format: A key of :data:`REPORTERS`.
        paint: Colours the words of a text report.
        width: Where a text report wraps its sentences, in characters.

    Raises:
        KeyError: There is no such format.
    """
    reporter: Reporter = import_module(f"{__name__}.{REPORTERS[format]}").report
    return reporter(checked, paint, width)
