"""All kinds of modules that some groups of patterns tell apart by name, each with a shortest name of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.analysis.naming import EXPERTS, Naming
from qpolicy.checkpoint.naming import is_projection
from qpolicy.paths import Pattern, network
from qpolicy.paths.budget import Budget
from qpolicy.paths.network import Node, Places
from qpolicy.paths.sample import Sampler

Groups: TypeAlias = frozenset[int]


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of module.

    Attributes:
        groups: The groups that catch it by one of its names; they, and no others, catch every module of the kind.
        name: A shortest name.
        also: The fused names that it goes by too.
    """

    groups: Groups
    name: str
    also: tuple[str, ...] = ()

    @property
    def length(self) -> tuple[int, int, int, int, str]:
        """What makes a name shorter than another: fewer segments, then fewer characters; plain ones come first."""
        return self.name.count("."), len(self.name), len(self.also), sum(map(str.isdigit, self.name)), self.name


def cells(groups: Sequence[Sequence[Pattern]], budget: Budget) -> list[Cell]:
    """Find every combination of groups that catches some module, the empty one included.

    The deterministic automaton of all the patterns is walked layer by layer to its end.

    Args:
        groups: The patterns of each group; a group's id is its position.
        budget: Is charged for the work.

    Returns:
        One cell for each combination, those with the shortest names first.

    Raises:
        Undecided: The budget is spent.
    """
    walk = _Walk(Naming.of(pattern for group in groups for pattern in group), budget)
    layer = {_State(frozenset(), network.build(groups)): ""}
    seen = set(layer)
    found: dict[Groups, Cell] = {}
    while layer:
        shorter = frozenset(found)
        following: dict[_State, str] = {}
        for state, prefix in layer.items():
            for segment in walk.segments(state):
                name = f"{prefix}.{segment}" if prefix else segment
                target = walk.step(state, segment)
                for caught, also in walk.ending(state, target, name, segment):
                    if caught not in shorter:
                        found[caught] = _shorter(Cell(caught, name, also), found.get(caught))
                if target not in seen:
                    following[target] = min(following.get(target, name), name, key=lambda one: (len(one), one))
        seen.update(following)
        layer = following
    return sorted(found.values(), key=lambda cell: cell.length)


def _shorter(cell: Cell, known: Cell | None) -> Cell:
    return cell if known is None else min(known, cell, key=lambda one: one.length)


@dataclass(frozen=True, slots=True)
class _State:
    """Where a walk over a name's segments is.

    Attributes:
        settled: The groups that match whatever follows, because one of their patterns has come to its last ``**``.
        places: The places in the automaton, without those from which only these groups can be reached.
        inside: The other groups that match the name of the last container passed.
        numbered: Whether a number follows that container.
        at_container: Whether the last segment is ``experts``.
    """

    settled: Groups
    places: Places
    inside: Groups = frozenset()
    numbered: bool = False
    at_container: bool = False


class _Walk:
    def __init__(self, naming: Naming, budget: Budget) -> None:
        self._naming = naming
        self._words = naming.words
        self._budget = budget
        self._sampler = Sampler(budget)
        self._samples: dict[frozenset[Node], list[str]] = {}
        self._ids: dict[Places, Groups] = {}
        self._below: dict[Node, Groups] = {}
        self._settled: dict[tuple[Groups, Places], tuple[Groups, Places]] = {}

    def step(self, state: _State, segment: str) -> _State:
        """Return where one more segment leads."""
        self._budget.spend(8 + len(state.places))
        settled, places = self._settle(state.settled, network.step(state.places, segment))
        if not self._naming.contained:
            return _State(settled, places)
        inside, numbered = state.inside, state.numbered
        if state.at_container:
            inside, numbered = self._matched(state.places), segment.isdecimal()
        inside -= settled
        return _State(settled, places, inside, numbered and bool(inside), segment == EXPERTS)

    def ending(
        self, before: _State, state: _State, name: str, segment: str
    ) -> Iterator[tuple[Groups, tuple[str, ...]]]:
        """Yield the groups that catch the module whose name ends here, with the fused names that it has then."""
        caught = state.settled | self._matched(state.places)
        # As qpolicy.checkpoint.container_of has it.
        if state.numbered or is_projection(segment):
            caught |= state.inside
        yield caught, ()
        stem = name[: -len(segment)]
        for fused in self._naming.fused.get(segment, ()):
            others = (self._matched(network.step(before.places, one)) for one in fused)
            yield caught.union(*others), tuple(stem + one for one in fused)

    def segments(self, state: _State) -> list[str]:
        """Return segments that stand for all that may follow."""
        self._budget.visit()
        for node in state.places:
            node.link()
        telling = frozenset(node for node in state.places if node.words or node.tests)
        if telling not in self._samples:
            words = self._words.union(*(node.words for node in telling))
            tests = {element for node in telling for element, _ in node.tests}
            self._samples[telling] = self._sampler.sample(words, tests)
        return self._samples[telling]

    def _settle(self, settled: Groups, places: Places) -> tuple[Groups, Places]:
        key = (settled, places)
        if key not in self._settled:
            now = settled.union(*(node.groups for node in places if node.repeats))
            left = frozenset(node for node in places if not self._groups_below(node) <= now) if now else places
            self._settled[key] = (now, left)
        return self._settled[key]

    def _groups_below(self, node: Node) -> Groups:
        if node not in self._below:
            below = (self._groups_below(child) for child in node.children.values())
            self._below[node] = frozenset(node.groups).union(*below)
        return self._below[node]

    def _matched(self, places: Places) -> Groups:
        if places not in self._ids:
            self._ids[places] = frozenset(network.ids(places))
        return self._ids[places]
