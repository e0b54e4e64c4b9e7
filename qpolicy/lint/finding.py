"""One finding: what is wrong, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from qpolicy.lint.repair import Repair

if TYPE_CHECKING:
    from qpolicy.lang.source import Source, Span

Severity: TypeAlias = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding is about, such as the rule that shadows this one.

    Attributes:
        message: What this place has to do with the finding.
        file: The file.
        line: The line in it, counted from 1.
        column: The column, counted from 1.
        end_line: The line of its end.
        end_column: The column after its last character.
        excerpt: The line with a caret, for the text report.
    """

    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    excerpt: str

    @classmethod
    def at(cls, message: str, source: Source, span: Span) -> Related:
        """Return a place in a policy."""
        end = source.span(span.end, span.end)
        return cls(message, source.name, span.line, span.column, end.line, end.column, source.excerpt(span))


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
        end_line: The line where the place ends, if it is known.
        end_column: The column after its last character, if it is known.
        related: The other places that it is about.
        repair: The edits that mend it, where ``--fix`` can.
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
    end_line: int | None = None
    end_column: int | None = None
    related: tuple[Related, ...] = ()
    repair: Repair | None = None
