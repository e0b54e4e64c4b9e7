"""Sets of module names as values: what some patterns match, put together with ``|``, ``&``, ``-`` and ``~``.

Every question about a set comes down to one: is there a name in it, and which is the shortest? That is answered
exactly, or not at all when it would take too long.
"""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.paths.budget import MAX_STATES, MAX_WORK, Budget
from qpolicy.paths.expression import Both, Either, Expression, Leaf, Other, Program
from qpolicy.paths.pattern import Pattern
from qpolicy.paths.search import shortest


@dataclass(frozen=True, slots=True, eq=False)
class PathSet:
    """A set of module names: of all texts that are one or more segments with dots between, none of them empty.

    ``a <= b`` says that every name of ``a`` is in ``b``, ``a == b`` that both have the same names, however they are put
    together; a set therefore has no hash. Every question except ``name in a`` raises `Undecided` when its budget is
    spent.
    """

    _expression: Expression

    @classmethod
    def of(cls, *patterns: Pattern) -> PathSet:
        """Returns the names that at least one of the patterns matches."""
        return cls(Leaf(patterns))

    @classmethod
    def nothing(cls) -> PathSet:
        """Returns the set without a name."""
        return cls.of()

    @classmethod
    def everything(cls) -> PathSet:
        """Returns the set of all names."""
        return ~cls.of()

    def __or__(self, other: PathSet) -> PathSet:
        left, right = self._expression, other._expression
        if isinstance(left, Leaf) and isinstance(right, Leaf):
            return PathSet.of(*left.patterns, *right.patterns)
        return PathSet(Either(left, right))

    def __and__(self, other: PathSet) -> PathSet:
        return PathSet(Both(self._expression, other._expression))

    def __sub__(self, other: PathSet) -> PathSet:
        return self & ~other

    def __invert__(self) -> PathSet:
        return PathSet(Other(self._expression))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or not all(name.split(".")):
            return False
        program = Program(self._expression)
        matched = [any(pattern.matches(name) for pattern in leaf.patterns) for leaf in program.leaves]
        return program.evaluate([(each, each) for each in matched])[0]

    def __le__(self, other: PathSet) -> bool:
        return (self - other).is_empty()

    def __ge__(self, other: PathSet) -> bool:
        return other <= self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PathSet):
            return NotImplemented
        return ((self - other) | (other - self)).is_empty()

    def __hash__(self) -> int:
        raise TypeError("a set of names has no hash: sets that are put together differently may be equal")

    def is_disjoint(self, other: PathSet) -> bool:
        """Says whether no name is in both sets."""
        return (self & other).is_empty()

    def is_empty(self) -> bool:
        """Says whether there is no name in the set."""
        return self.witness() is None

    def witness(self, *, states: int = MAX_STATES, work: int = MAX_WORK) -> str | None:
        """Returns a shortest name in the set, or None when it is empty.

        Args:
            states: How many automaton states may be visited.
            work: How many elementary steps may be made.

        Returns:
            A name with the fewest segments, and of those one with the fewest characters.

        Raises:
            Undecided: The budget is spent.
        """
        return shortest(self._expression, Budget(states, work))
