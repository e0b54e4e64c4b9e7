"""Finitely many segments that stand for all: a shortest one of each kind that some elements can tell apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Set
from itertools import chain, count
from typing import TypeAlias

from qpolicy.paths.budget import Budget
from qpolicy.paths.characters import OTHER, Characters
from qpolicy.paths.segments import Globs, Integers

Test: TypeAlias = Globs | Integers

_PLAIN = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"


class Sampler:
    """Samples segments for one search, which often asks about the same tests beside other words.

    Args:
        budget: Is charged for the work.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._without_words: dict[frozenset[Test], list[str]] = {}

    def sample(self, words: Set[str], tests: Set[Test]) -> list[str]:
        """Samples the segments.

        Args:
            words: Segments that are told apart from all others.
            tests: Elements that accept some segments and not others.

        Returns:
            Every word, and for each set of tests that some other segment, and no more, passes, a shortest such segment.

        Raises:
            Undecided: The budget is spent.
        """
        key = frozenset(tests)
        if key not in self._without_words:
            self._without_words[key] = self._kinds(frozenset(), tests)
        kinds = self._without_words[key]
        if not words.isdisjoint(kinds):
            kinds = self._kinds(words, tests)
        return [*words, *kinds]

    def _kinds(self, words: Set[str], tests: Set[Test]) -> list[str]:
        self._budget.spend(20 + sum(map(len, words)) // 4)
        automaton = Characters(sorted(tests, key=str), self._budget)
        fresh = _fresh({char for word in words for char in word}.union(automaton.alphabet))
        found: dict[int, str] = {}
        for text, state in _shortest(automaton, words, fresh):
            if text not in words:
                found.setdefault(automaton.accepted(state), text)
        return list(found.values())


def _fresh(used: Collection[str]) -> str:
    """Returns a character that is not used."""
    return next(char for char in chain(_PLAIN, map(chr, count(0x100))) if char not in used and char.isprintable())


def _shortest(automaton: Characters, words: Collection[str], fresh: str) -> Iterator[tuple[str, int]]:
    """Yields segments with the state that each leads to, by length: for each state enough that one is no word.

    Of a state that ``n`` words pass through, the ``n + 1`` shortest texts are enough, for itself and for the states
    behind it: at most ``n`` of them, continued in whatever way, are words. A text with a fresh character is enough by
    itself.
    """
    letters = ((fresh, OTHER), *((char, char) for char in automaton.alphabet))
    passing = Counter(state for word in words for state in set(automaton.run(word)))
    wanted: dict[int, int] = {}
    layer = [("", automaton.start)]
    while layer:
        following = []
        for text, state in layer:
            left = wanted.get(state, passing[state] + 1)
            if not left:
                continue
            if text:
                wanted[state] = 0 if fresh in text else left - 1
                yield text, state
            following += [(text + char, automaton.step(state, letter)) for char, letter in letters]
        layer = following
