"""What a finding's module provides: its page and one check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from qpolicy.lint.finding import Finding, Related, Severity
from qpolicy.lint.repair import Repair

if TYPE_CHECKING:
    from qpolicy.lang.source import Source, Span
    from qpolicy.lint.view import View

Find: TypeAlias = "Callable[[View], Iterable[Finding]]"
Safety: TypeAlias = Literal["safe", "unsafe", "manual"]


@dataclass(frozen=True, slots=True)
class Example:
    """A policy, a checkpoint, or both, as a code's page shows them.

    Attributes:
        policy: The policy's text; None where there is no policy.
        checkpoint: The checkpoint in the notation of the pages (lines of a state and names, then ``config.json``);
            None where the policy is looked at alone.
        engines: The engines that are given.
    """

    policy: str | None = None
    checkpoint: str | None = None
    engines: tuple[str, ...] = ("sglang",)


@dataclass(frozen=True, slots=True)
class Page:
    """What a code's page says beyond its summary.

    Attributes:
        explanation: Why it is found and what it leads to, in Markdown.
        bad: An example in which the code is found.
        good: The same example, mended.
        fix: How to mend it, in Markdown.
        safety: ``safe`` if ``--fix`` mends it, ``unsafe`` if it does so with ``--unsafe-fixes`` only, else ``manual``.
    """

    explanation: str
    bad: Example
    good: Example
    fix: str
    safety: Safety = "manual"


@dataclass(frozen=True, slots=True)
class Code:
    """A finding's code with its name and usual severity.

    Attributes:
        code: Such as ``QP201``.
        name: In lower case with dashes.
        severity: What its findings usually are.
        summary: What it finds, in one sentence.
        page: The rest of its page.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    page: Page | None = None

    def finding(
        self,
        message: str,
        *,
        modules: tuple[str, ...] = (),
        file: str | None = None,
        fix: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding of this code about modules or about a file as a whole."""
        return Finding(self.code, self.name, severity or self.severity, message, modules, file, fix=fix)

    def in_policy(
        self,
        message: str,
        source: Source,
        span: Span,
        *,
        modules: tuple[str, ...] = (),
        fix: str | None = None,
        severity: Severity | None = None,
        related: tuple[Related, ...] = (),
        repair: Repair | None = None,
    ) -> Finding:
        """Return a finding of this code that points into a policy."""
        end = source.span(span.end, span.end)
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            modules=modules,
            file=source.name,
            line=span.line,
            column=span.column,
            fix=fix,
            excerpt=source.excerpt(span),
            end_line=end.line,
            end_column=end.column,
            related=related,
            repair=repair,
        )


@dataclass(frozen=True, slots=True)
class Check:
    """A code and the function that finds it."""

    code: Code
    find: Find
