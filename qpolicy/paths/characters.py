"""Tests on one segment as an automaton over its characters.

Every test is a list of templates, each a row of cells that take a character. All cells lie in one row; a set of cells
is an integer with a bit for each, and the cells behind the ends of a test's templates tell that it accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qpolicy.paths.bits import bits
from qpolicy.paths.budget import Budget
from qpolicy.paths.digits import DIGITS, longer, templates
from qpolicy.paths.segments import Globs, Integers

OTHER = ""
"""Stands for every character that no cell names."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """Takes one of some characters, or any when they are None; a repeated cell takes none or more of them."""

    characters: str | None
    repeated: bool = False


_ANY = _Cell(None, repeated=True)
_MORE_DIGITS = _Cell(DIGITS, repeated=True)
_END = _Cell("")


class Characters:
    """The automaton of some tests. A state is a set of cells, 0 when no test can accept any more.

    Args:
        tests: What accepts a segment or does not.
        budget: Is charged for building, and for each step.

    Attributes:
        start: The state before the first character.
        alphabet: The characters that some cell names, ascending.
    """

    def __init__(self, tests: Sequence[Globs | Integers], budget: Budget) -> None:
        self._budget = budget
        cells: list[_Cell] = []
        begins = 0
        self._ends: list[int] = []
        for test in tests:
            ends = 0
            for row in _rows(test):
                budget.spend(len(row))
                begins |= 1 << len(cells)
                cells.extend(row)
                ends |= 1 << len(cells)
                cells.append(_END)
            self._ends.append(ends)
        self.alphabet = tuple(sorted({char for cell in cells for char in cell.characters or ""}))
        budget.spend(len(cells) * len(self.alphabet))
        self._price = 5 + len(cells) // 100
        self._optional = bits(cell.repeated for cell in cells)
        self._taking = {char: self._takers(cells, char) for char in (OTHER, *self.alphabet)}
        self.start = self._skip(begins)

    def step(self, state: int, char: str) -> int:
        """Returns the state after one more character, which is one of the alphabet or `OTHER`."""
        self._budget.spend(self._price)
        taking = state & self._taking[char]
        repeated = taking & self._optional
        return self._skip((taking ^ repeated) << 1 | repeated)

    def run(self, text: str) -> Iterator[int]:
        """Yields the states that a text passes through, the first one included."""
        state = self.start
        yield state
        for char in text:
            state = self.step(state, char if char in self._taking else OTHER)
            yield state

    def accepted(self, state: int) -> int:
        """Returns which tests accept in a state, a bit for each."""
        return bits(state & ends != 0 for ends in self._ends)

    def _skip(self, state: int) -> int:
        skipped = state
        while skipped := (skipped & self._optional) << 1 & ~state:
            state |= skipped
        return state

    @staticmethod
    def _takers(cells: list[_Cell], char: str) -> int:
        return bits(cell.characters is None or (char != OTHER and char in cell.characters) for cell in cells)


def _rows(test: Globs | Integers) -> Iterator[list[_Cell]]:
    if isinstance(test, Globs):
        for texts in test.texts:
            first, *others = ([_Cell(char) for char in text] for text in texts)
            yield first + [cell for text in others for cell in (_ANY, *text)]
        return
    for low, high in test.ranges:
        last = 10 ** len(str(low)) - 1 if high is None else high
        yield from ([_Cell(each) for each in row] for row in templates(low, last))
        if high is None:
            yield [*(_Cell(each) for each in longer(len(str(low)) + 1)), _MORE_DIGITS]
