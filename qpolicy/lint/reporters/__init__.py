"""Reporters: findings become text for people or a document for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from qpolicy.lint.reporters import as_json, concise, text
from qpolicy.lint.reporters.checked import Checked
from qpolicy.lint.reporters.paint import Paint, plain

__all__ = ["REPORTERS", "Checked", "Reporter", "render"]

Reporter: TypeAlias = Callable[[Sequence[Checked], Paint, int], str]
"""Takes what was checked, a colouring and a width in characters; returns the report, its last newline included."""

REPORTERS: Mapping[str, Reporter] = MappingProxyType(
    {"text": text.report, "concise": concise.report, "json": as_json.report}
)


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
    return REPORTERS[format](checked, paint, width)
