"""How much an analysis may cost before it answers "undecided"."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.paths.budget import Budget


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of one analysis. A million steps take about half a second.

    Attributes:
        states: How many automaton states may be visited to tell all kinds of names apart.
        names_work: How many steps that may take.
        facts_work: How many steps may be spent on conditions, all questions together.
        question_work: How many of those on one question.
    """

    states: int = 12_000
    names_work: int = 3_000_000
    facts_work: int = 2_000_000
    question_work: int = 400_000


class Meter:
    """Charges each step to one question and to the whole analysis.

    Args:
        limits: The budget.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._total = Budget(work=limits.facts_work)
        self._question = Budget(work=limits.question_work)

    def ask(self) -> None:
        """Begin another question."""
        self._question = Budget(work=self._limits.question_work)

    def spend(self, work: int) -> None:
        """Count some more steps.

        Raises:
            Undecided: The question, or the whole analysis, has taken too many.
        """
        self._question.spend(work)
        self._total.spend(work)
