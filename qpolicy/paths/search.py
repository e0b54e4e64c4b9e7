"""The shortest name in a set: a search, layer by layer, through the deterministic automaton of all its patterns."""

from __future__ import annotations

from qpolicy.paths import network
from qpolicy.paths.budget import Budget
from qpolicy.paths.expression import Bounds, Expression, Program
from qpolicy.paths.network import Node, Places
from qpolicy.paths.sample import Sampler


def shortest(expression: Expression, budget: Budget) -> str | None:
    """Returns a name in the set with the fewest segments, and of those one with the fewest characters, or None.

    Raises:
        Undecided: The budget is spent.
    """
    search = _Search(expression, budget)
    layer = {search.start: ""}
    while layer:
        layer = search.next(layer)
        names = [name for places, name in layer.items() if search.accepts(places)]
        if names:
            return min(names, key=_length)
    return None


def _length(name: str) -> tuple[int, str]:
    return len(name), name


class _Search:
    def __init__(self, expression: Expression, budget: Budget) -> None:
        self._budget = budget
        self._program = Program(expression)
        self._groups = range(len(self._program.leaves))
        self._sampler = Sampler(budget)
        self._samples: dict[Places, list[str]] = {}
        self._below: dict[Node, frozenset[int]] = {}
        self.start = network.build(leaf.patterns for leaf in self._program.leaves)
        self._seen = {self.start}

    def next(self, layer: dict[Places, str]) -> dict[Places, str]:
        """Goes on by one segment to places that were not seen and from which the set can be reached."""
        following: dict[Places, str] = {}
        for places, name in layer.items():
            prefix = f"{name}." if name else ""
            for segment in self._sample(places):
                self._budget.spend(5 + len(places))
                target = network.step(places, segment)
                if target in following:
                    following[target] = min(following[target], prefix + segment, key=_length)
                elif target not in self._seen:
                    self._seen.add(target)
                    if self._hopeful(target):
                        following[target] = prefix + segment
        return following

    def accepts(self, places: Places) -> bool:
        """Says whether a name that leads to these places is in the set."""
        matched = set(network.ids(places))
        return self._program.evaluate([(group in matched, group in matched) for group in self._groups])[0]

    def _hopeful(self, places: Places) -> bool:
        """Says whether some name that leads to or through these places may be in the set."""
        self._budget.visit()
        self._budget.spend(self._program.size)
        open_ended = set().union(*(node.groups for node in places if node.repeats))
        possible = set().union(*(self._groups_below(node) for node in places))
        bounds: list[Bounds] = [(group in open_ended, group in possible) for group in self._groups]
        return self._program.evaluate(bounds)[1]

    def _sample(self, places: Places) -> list[str]:
        for node in places:
            node.link()
        telling = frozenset(node for node in places if node.words or node.tests)
        if telling not in self._samples:
            words = {word for node in telling for word in node.words}
            tests = {element for node in telling for element, _ in node.tests}
            self._samples[telling] = self._sampler.sample(words, tests)
        return self._samples[telling]

    def _groups_below(self, node: Node) -> frozenset[int]:
        if node not in self._below:
            below = (self._groups_below(child) for child in node.children.values())
            self._below[node] = frozenset(node.groups).union(*below)
        return self._below[node]
