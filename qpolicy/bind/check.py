"""The passes over a policy's patterns: every pattern parses, every continued set can be continued."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from qpolicy.bind.resolve import Sets, parse_pattern
from qpolicy.lang import PolicySyntaxError, SyntaxIssue
from qpolicy.lang.source import Source
from qpolicy.lang.tree import Document, PatternRef, Selector, SetRef, Statement
from qpolicy.lang.walk import selectors_of
from qpolicy.paths import PatternError

_PATTERN = "QP013"


def pattern_issues(statements: Iterable[Statement], source: Source) -> tuple[SyntaxIssue, ...]:
    """Return every malformed pattern of some statements, each at its own place."""
    return tuple(
        issue for statement in statements for one in selectors_of(statement) for issue in _malformed(one, source)
    )


def check_patterns(document: Document, source: Source) -> Document:
    """Parse every pattern of the policy.

    Raises:
        PolicySyntaxError: With every malformed pattern.
    """
    issues = pattern_issues(document.statements, source)
    if issues:
        raise PolicySyntaxError(issues)
    return document


def check_continued_sets(document: Document, source: Source) -> Document:
    """Check that each set in ``@SET.rest`` consists of patterns that end in ``.**``.

    Raises:
        PolicySyntaxError: With every set that cannot be continued.
    """
    sets = Sets.of(document, None)
    issues = tuple(
        issue
        for statement in document.statements
        for one in selectors_of(statement)
        if isinstance(one, SetRef) and one.rest is not None
        for issue in _closed(one, sets, source)
    )
    if issues:
        raise PolicySyntaxError(issues)
    return document


def _malformed(selector: Selector, source: Source) -> Iterator[SyntaxIssue]:
    if isinstance(selector, PatternRef):
        text, offset = selector.text, 0
    elif selector.rest is not None:
        text = selector.rest
        offset = selector.span.end - selector.span.start - len(text)
    else:
        return
    try:
        parse_pattern(text)
    except PatternError as error:
        span = source.narrowed(selector.span, offset + error.start, offset + error.end)
        yield SyntaxIssue(_PATTERN, error.message, span, (), error.hint, source)


def _closed(selector: SetRef, sets: Sets, source: Source) -> Iterator[SyntaxIssue]:
    closed = [pattern for pattern in sets.named(selector.name) if not pattern.open_ended]
    if closed:
        message = f"@{selector.name} cannot be continued: its pattern {closed[0]} does not end in '.**'"
        hint = f"end every pattern of @{selector.name} in '.**', or name the modules without the set"
        yield SyntaxIssue(_PATTERN, message, selector.span, (), hint, source)


PolicyPass: TypeAlias = Callable[[Document, Source], Document]

POLICY_PASSES: tuple[PolicyPass, ...] = (check_patterns, check_continued_sets)
"""What a policy passes before it is bound; :mod:`qpolicy.bind.passes` has what follows."""
