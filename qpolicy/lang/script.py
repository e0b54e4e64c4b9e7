"""What the checks between statements look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qpolicy.lang.source import Span
from qpolicy.lang.tree import Let, Statement

VERSION: Final = 1
"""The version of the language that this package reads."""

BUILT_IN_SETS: Final = ("mtp",)
"""The sets that are known without a ``let``."""

MAX_ISSUES: Final = 100
"""How many mistakes are reported at most; the search stops there."""


@dataclass(frozen=True, slots=True)
class Script:
    """The statements of a text, with what is known of those that could not be parsed.

    Attributes:
        statements: The statements that could be parsed, in order.
        broken: Where each of the others stands.
        lost_version: Whether the first of them seems to state the version.
        lost_sets: The names that broken ``let`` statements seem to give, so that their uses are not reported too.
        start: The place of the first statement of either kind, or of the text's end.
    """

    statements: tuple[Statement, ...]
    broken: tuple[Span, ...]
    lost_version: bool
    lost_sets: frozenset[str]
    start: Span

    def lets(self) -> Iterator[Let]:
        """Yield the ``let`` statements."""
        return (statement for statement in self.statements if isinstance(statement, Let))
