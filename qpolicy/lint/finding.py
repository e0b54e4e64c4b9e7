"""One finding: what is wrong, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        code: Such as ``QP201``.
        name: The code's short name, such as ``packed-for-plain``.
        severity: ``error``, ``warning`` or ``info``; info alone leaves the exit code at 0.
        message: One sentence that stands on its own: module, what is on disk, what the engine would do, which rule
            or list entry says so.
        modules: The stored modules that it is about.
        file: The policy, config or checkpoint file that it is about, if one is.
        line: The line in it, counted from 1, if one is known.
        column: The column, counted from 1, if one is known.
        fix: What to write: policy text where a policy line mends it, else a sentence.
        excerpt: The line of the policy with a caret, for the text report.
    """

    code: str
    name: str
    severity: Severity
    message: str
    modules: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    column: int | None = None
    fix: str | None = None
    excerpt: str | None = None
