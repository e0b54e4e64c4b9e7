"""The limits within which questions about sets of patterns are answered."""

from __future__ import annotations

from qpolicy.paths.errors import Undecided

MAX_STATES = 20_000
MAX_WORK = 4_000_000


class Budget:
    """Counts what a search uses, and stops it when too much is used.

    Args:
        states: How many automaton states may be visited.
        work: How many elementary steps may be made; a million take about a quarter of a second.
    """

    def __init__(self, states: int = MAX_STATES, work: int = MAX_WORK) -> None:
        self._states = self._states_left = states
        self._work = self._work_left = work

    def visit(self) -> None:
        """Counts one more state.

        Raises:
            Undecided: There were too many.
        """
        self._states_left -= 1
        if self._states_left < 0:
            raise Undecided(f"{self._states:,} automaton states")

    def spend(self, work: int) -> None:
        """Counts some more steps.

        Raises:
            Undecided: There were too many.
        """
        self._work_left -= work
        if self._work_left < 0:
            raise Undecided(f"{self._work:,} steps")
