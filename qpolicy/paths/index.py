"""Which of many groups of patterns match a name, in one walk over its segments.

The automaton of all patterns is made deterministic lazily, state by state, while names are asked. A name whose states
are known costs one dictionary look-up for each segment, however many patterns there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from qpolicy.paths import network
from qpolicy.paths.pattern import Pattern

MAX_CELLS = 1_000_000
"""How much is remembered, in nodes of states, group ids and transitions, before all is forgotten and learnt anew."""

MAX_REMEMBERED_SEGMENT = 256
"""A longer segment is looked up anew each time, so that hostile names cannot fill the memory."""


class _State(dict[str, "_State"]):
    """One state of the deterministic automaton: the states that it is known to lead to, by segment."""

    __slots__ = ("index", "matched", "places")

    def __init__(self, index: PatternIndex, places: network.Places) -> None:
        super().__init__()
        self.index = index
        self.places = places
        self.matched = network.ids(places)

    def __missing__(self, segment: str) -> _State:
        return self.index._follow(self, segment)


class _Dead(_State):
    """Where no pattern can match any more, whatever follows."""

    __slots__ = ()

    def __missing__(self, segment: str) -> _State:
        return self


class PatternIndex:
    """Groups of patterns, asked by name. A group's id is its position; a policy has one group for each rule.

    Its memory is bounded whatever names are asked. It may be shared by threads.

    Args:
        groups: The patterns of each group.
        max_cells: How much is remembered before all is forgotten; see `MAX_CELLS`.

    Attributes:
        computed: How many transitions were computed so far; a walk over known states computes none.
    """

    def __init__(self, groups: Sequence[Sequence[Pattern]], *, max_cells: int = MAX_CELLS) -> None:
        self.computed = 0
        self._max_cells = max_cells
        self._cells = 0
        self._states: dict[network.Places, _State] = {}
        self._dead = _Dead(self, frozenset())
        self._start = _State(self, network.build(groups))

    @property
    def states(self) -> int:
        """How many states are remembered now, the first one and the dead one aside."""
        return len(self._states)

    @property
    def cells(self) -> int:
        """How much is remembered now, in the unit of `MAX_CELLS`."""
        return self._cells

    def matches(self, name: str) -> tuple[int, ...]:
        """Returns the ids of the groups with a pattern that matches, ascending; none for a text that is no name."""
        state = self._start
        for segment in name.split("."):
            state = state[segment]
        return state.matched

    def first(self, name: str) -> int | None:
        """Returns the smallest id of a group with a pattern that matches, or None."""
        matched = self.matches(name)
        return matched[0] if matched else None

    def _follow(self, state: _State, segment: str) -> _State:
        self.computed += 1
        places = network.step(state.places, segment)
        target = self._states.get(places)
        if target is None:
            target = self._remember(places)
        if len(segment) <= MAX_REMEMBERED_SEGMENT:
            self._spend(1)
            state[segment] = target
        return target

    def _remember(self, places: network.Places) -> _State:
        if not places:
            return self._dead
        target = _State(self, places)
        self._spend(1 + len(places) + len(target.matched))
        self._states[places] = target
        return target

    def _spend(self, cells: int) -> None:
        if self._cells + cells > self._max_cells:
            self._forget()
        self._cells += cells

    def _forget(self) -> None:
        for state in (self._start, *self._states.values()):
            state.clear()
        self._states.clear()
        self._cells = 0
