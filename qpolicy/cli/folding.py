"""Folds rows that differ only in a layer's number into one row, such as ``model.layers.{0..2,5}.mlp.gate``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qpolicy.lint.reporters.names import braces, is_number

_NUMBER = "\0"  # no segment of a name holds it


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of layers.

    Attributes:
        name: The engine's name.
        stored: The name in the stored spelling.
        kind: What kind of layer it is.
        outcome: What was decided.
        by: The deciding rule's place, or ``list``.
        on_disk: What is on disk.
        count: How many layers it stands for.
    """

    name: str
    stored: str
    kind: str
    outcome: str
    by: str
    on_disk: str
    count: int = 1


def fold(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with those folded into one that differ only in the first number in their names.

    A folded name is a pattern that can be copied into a policy. The order is that of each row's first layer.
    """
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        groups.setdefault(replace(row, name=_template(row.name), stored=_template(row.stored)), []).append(row)
    return [_one(key, group) for key, group in groups.items()]


def _one(key: Row, group: Sequence[Row]) -> Row:
    if len(group) == 1:
        return group[0]
    return replace(
        key,
        name=_filled([row.name for row in group]),
        stored=_filled([row.stored for row in group]),
        count=len(group),
    )


def _template(name: str) -> str:
    segments = name.split(".")
    at = _numbered(segments)
    return name if at is None else ".".join([*segments[:at], _NUMBER, *segments[at + 1 :]])


def _filled(names: Sequence[str]) -> str:
    """Return names of one template as one, their first number in braces."""
    segments = names[0].split(".")
    at = _numbered(segments)
    if at is None:
        return names[0]
    return ".".join([*segments[:at], braces(int(name.split(".")[at]) for name in names), *segments[at + 1 :]])


def _numbered(segments: Sequence[str]) -> int | None:
    return next((at for at, segment in enumerate(segments) if is_number(segment)), None)
