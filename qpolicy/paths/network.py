"""Many patterns as one nondeterministic automaton over segments, in which patterns share what they have in common.

A node is a place inside one or more patterns. A set of nodes is where a walk over a name's segments may be; `step`
moves it on by one segment. Both the matcher (`qpolicy.paths.index`) and the algebra (`qpolicy.paths.sets`) walk here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from qpolicy.paths.pattern import Pattern
from qpolicy.paths.segments import Element, Globs, Integers, Spellings, Wildcard, Word

Targets: TypeAlias = tuple["Node", ...]


class Node:
    """A place between two elements.

    Attributes:
        children: The next places, by the element that lies between; the tree that the patterns were put into.
        groups: The ids of the groups of which a pattern ends here.
        words: Where an exact segment leads.
        tests: Where the segments that a test accepts lead; the elements are kept for whoever wants to sample them.
        anything: Where every segment leads.
        repeats: Whether any segment may follow and lead back here.
        linked: Whether the three above are filled in.
    """

    __slots__ = ("anything", "children", "groups", "linked", "repeats", "tests", "words")

    def __init__(self, repeats: bool = False) -> None:
        self.children: dict[Element, Node] = {}
        self.groups: set[int] = set()
        self.repeats = repeats
        self.linked = False
        self.words: dict[str, Targets] = {}
        self.tests: list[tuple[Globs | Integers, Targets]] = []
        self.anything: Targets = ()

    def reach(self) -> Targets:
        """Returns this place and those that a ``**`` standing for nothing leads to."""
        places: list[Node] = [self]
        while (skipped := places[-1].children.get(Wildcard.REST)) is not None:
            places.append(skipped)
        return tuple(places)

    def link(self) -> None:
        """Fills in where segments lead; done only when a walk first comes here, so that building costs little."""
        if self.linked:
            return
        words: dict[str, Targets] = {}
        tests: list[tuple[Globs | Integers, Targets]] = []
        anything = set(self.reach()) if self.repeats else set()
        for element, child in self.children.items():
            targets = child.reach()
            if isinstance(element, Wildcard):
                anything.update(targets)
            elif isinstance(element, Word | Spellings):
                for word in element.words:
                    words[word] = (*words.get(word, ()), *targets)
            else:
                tests.append((element, targets))
        self.words, self.tests, self.anything = words, tests, tuple(anything)
        # Last, so that another thread never sees half of it.
        self.linked = True


Places: TypeAlias = frozenset[Node]


def build(groups: Iterable[Sequence[Pattern]]) -> Places:
    """Puts the patterns of each group into one automaton; a group's id is its position.

    Returns:
        Where a walk begins.
    """
    root = Node()
    for group, patterns in enumerate(groups):
        for pattern in patterns:
            node = root
            for element in pattern.elements:
                child = node.children.get(element)
                if child is None:
                    child = node.children[element] = Node(element is Wildcard.SOME or element is Wildcard.REST)
                node = child
            node.groups.add(group)
    return frozenset(root.reach())


def step(places: Places, segment: str) -> Places:
    """Returns where a walk that may be at ``places`` may be after one more segment.

    An empty segment leads nowhere: no element stands for it.
    """
    found: set[Node] = set()
    if segment:
        for node in places:
            if not node.linked:
                node.link()
            found.update(node.anything, node.words.get(segment, ()))
            for element, targets in node.tests:
                if element.matches(segment):
                    found.update(targets)
    return frozenset(found)


def ids(places: Places) -> tuple[int, ...]:
    """Returns the groups of which a pattern ends at one of these places, ascending."""
    return tuple(sorted(set().union(*(node.groups for node in places))))
