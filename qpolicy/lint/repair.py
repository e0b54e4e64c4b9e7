"""Edits that mend a policy's text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A range of a policy's text and what to put in its place.

    Attributes:
        start: Offset of the first character that is replaced.
        end: Offset after the last one.
        text: The new text.
    """

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that together mend one finding.

    Attributes:
        edits: The edits; they do not overlap.
        safe: Whether the policy means the same afterwards, so that ``--fix`` may make them unasked.
    """

    edits: tuple[Edit, ...]
    safe: bool


def apply(text: str, repairs: Iterable[Repair]) -> str:
    """Return a text with repairs made; they must be compatible."""
    for edit in sorted((edit for repair in repairs for edit in repair.edits), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def compatible(repairs: Iterable[Repair]) -> list[Repair]:
    """Return as many repairs as can be made at once, the earlier before the later, none of them twice."""
    chosen: list[Repair] = []
    for repair in repairs:
        made = [edit for other in chosen for edit in other.edits]
        if not any(_overlap(edit, other) for edit in repair.edits for other in made):
            chosen.append(repair)
    return chosen


def _overlap(one: Edit, other: Edit) -> bool:
    return one.start < other.end and other.start < one.end
