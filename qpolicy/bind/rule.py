"""A deciding statement with its patterns expanded for one checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.lang.source import Source
from qpolicy.lang.tree import Condition, DecisionNode, Drop, Otherwise, Rule
from qpolicy.paths import Pattern

COVERED_BY_OTHERWISE = frozenset({"linear", "moe", "lm_head"})
"""The kinds of layers for which ``otherwise`` decides."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundRule:
    """A deciding statement: a rule, a drop or ``otherwise``.

    Attributes:
        index: Position among the policy's deciding statements.
        node: The statement.
        patterns: What its selectors come to for this checkpoint; None means every module.
        source: The policy's text, for messages.
    """

    index: int
    node: Rule | Otherwise | Drop
    patterns: tuple[Pattern, ...] | None
    source: Source

    @property
    def file(self) -> str:
        """The policy file's name."""
        return self.source.name

    @property
    def line(self) -> int:
        """The line on which the statement starts, counted from 1."""
        return self.node.span.line

    @property
    def column(self) -> int:
        """The column at which the statement starts, counted from 1."""
        return self.node.span.column

    @property
    def text(self) -> str:
        """The statement as written, on one line."""
        return " ".join(self.source.slice(self.node.span).split())

    @property
    def place(self) -> str:
        """``file:line:column``."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def condition(self) -> Condition | None:
        """The condition under which it applies, if it has one."""
        return None if isinstance(self.node, Otherwise) else self.node.condition

    @property
    def decision(self) -> DecisionNode:
        """What it decides."""
        if isinstance(self.node, Drop):
            return DecisionNode("unquantized", span=self.node.span)
        return self.node.decision

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"
