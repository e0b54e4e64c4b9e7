"""What a finding's module provides: one check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.lang.source import Source, Span
from qpolicy.lint.finding import Finding, Severity
from qpolicy.lint.view import View

Find: TypeAlias = Callable[[View], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Code:
    """A finding's code with its name and usual severity.

    Attributes:
        code: Such as ``QP201``.
        name: In lower case with dashes.
        severity: What its findings usually are.
        summary: What it finds, in one sentence.
    """

    code: str
    name: str
    severity: Severity
    summary: str

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
    ) -> Finding:
        """Return a finding of this code that points into a policy."""
        return Finding(
            self.code,
            self.name,
            severity or self.severity,
            message,
            modules,
            source.name,
            span.line,
            span.column,
            fix,
            source.excerpt(span),
        )


@dataclass(frozen=True, slots=True)
class Check:
    """A code and the function that finds it."""

    code: Code
    find: Find
