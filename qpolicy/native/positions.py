"""Matches a parsed regular expression by following every position at once.

The positions in the name that a match may have reached are the bits of one integer, so each node of the pattern costs
a few operations, whatever it is repeated in. Which of several matches ``re`` would prefer does not matter: only
whether there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from qpolicy.native import characters

_STEPS = 200_000


class Spent(Exception):  # noqa: N818 - it reports a state, the caller decides whether it is an error
    """The step budget is used up."""


@dataclass(slots=True)
class _Run:
    """One name being matched."""

    name: str
    steps: int = _STEPS
    places: dict[str, int] = field(default_factory=dict)
    """The places of each character, as bits."""

    def __post_init__(self) -> None:
        for place, character in enumerate(self.name):
            self.places[character] = self.places.get(character, 0) | 1 << place


_Step = Callable[[_Run, int], int]
"""Takes the positions reached before a node to those reached behind it."""


class Positions:
    """A compiled pattern.

    Args:
        tree: A parse tree for which `qpolicy.native.cost.judge` says ``simple``.
    """

    def __init__(self, tree: Any) -> None:
        flags = tree.state.flags
        self._step = _sequence(tree, flags)
        self._needed = "" if flags & re.IGNORECASE else _needed(tree)

    def match(self, name: str) -> bool:
        """Tell whether the pattern matches from the start of the name.

        Raises:
            Spent: More than a fixed number of steps would be needed.
        """
        return self._needed in name and self._step(_Run(name), 1) != 0


def _needed(tree: Any) -> str:
    """Return the longest text that every match contains, as far as it is easily seen."""
    runs = [""]
    for node, argument in tree:
        if str(node) == "LITERAL":
            runs[-1] += chr(argument)
        else:
            runs.append("")
    return max(runs, key=len)


def _sequence(tree: Any, flags: int) -> _Step:
    steps = [_COMPILE.get(str(node), _character)(str(node), argument, flags) for node, argument in tree]
    return partial(_follow, steps)


def _follow(steps: list[_Step], run: _Run, reached: int) -> int:
    run.steps -= 1 + len(steps)
    if run.steps < 0:
        raise Spent
    for step in steps:
        if not reached:
            return 0
        reached = step(run, reached)
    return reached


def _fitting(fits: Callable[[str], bool], run: _Run) -> int:
    return sum(places for character, places in run.places.items() if fits(character))


def _character(operation: str, argument: Any, flags: int) -> _Step:
    fits = characters.test(operation, argument, flags)
    return lambda run, reached: (reached & _fitting(fits, run)) << 1


def _repeat(operation: str, argument: Any, flags: int) -> _Step:
    least, most, body = int(argument[0]), int(argument[1]), argument[2]
    once = _sequence(body, flags)
    single = len(body) == 1 and str(body[0][0]) in characters.OPERATIONS
    endless = partial(_star, characters.test(str(body[0][0]), body[0][1], flags)) if single else None

    def step(run: _Run, reached: int) -> int:
        reached = _at_least(once, least, run, reached)
        if endless is not None and most - least >= len(run.name):
            return endless(run, reached)
        return _at_most(once, most - least, run, reached)

    return step


def _star(fits: Callable[[str], bool], run: _Run, reached: int) -> int:
    """Follow one character repeated without end: adding carries each position through its run of fitting places."""
    fitting = _fitting(fits, run)
    return (((reached & fitting) + fitting) ^ fitting) | reached


def _at_least(once: _Step, count: int, run: _Run, reached: int) -> int:
    for _ in range(count):
        before, reached = reached, once(run, reached)
        if reached in (0, before):
            break
    return reached


def _at_most(once: _Step, count: int, run: _Run, reached: int) -> int:
    every = fresh = reached
    while fresh and count > 0:
        fresh = once(run, fresh) & ~every
        every |= fresh
        count -= 1
    return every


def _branch(operation: str, argument: Any, flags: int) -> _Step:
    branches = [_sequence(branch, flags) for branch in argument[1]]

    def step(run: _Run, reached: int) -> int:
        found = 0
        for branch in branches:
            found |= branch(run, reached)
        return found

    return step


def _assertion(operation: str, argument: Any, flags: int) -> _Step:
    direction, body = argument
    inside, wanted = _sequence(body, flags), operation == "ASSERT"
    width = body.getwidth()[0] if direction < 0 else None

    def step(run: _Run, reached: int) -> int:
        places = (place for place in range(reached.bit_length()) if reached >> place & 1)
        return sum(1 << place for place in places if _holds(inside, width, run, place) == wanted)

    return step


def _holds(inside: _Step, width: int | None, run: _Run, place: int) -> bool:
    if width is None:
        return inside(run, 1 << place) != 0
    return place >= width and bool(inside(run, 1 << (place - width)) >> place & 1)


def _anchor(operation: str, argument: Any, flags: int) -> _Step:
    holds = characters.ANCHORS[str(argument)]

    def step(run: _Run, reached: int) -> int:
        places = (place for place in range(reached.bit_length()) if reached >> place & 1)
        return sum(1 << place for place in places if holds(run.name, place))

    return step


_COMPILE: dict[str, Callable[[str, Any, int], _Step]] = {
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "BRANCH": _branch,
    "SUBPATTERN": lambda operation, argument, flags: _sequence(argument[3], flags),
    "ASSERT": _assertion,
    "ASSERT_NOT": _assertion,
    "AT": _anchor,
    "FAILURE": lambda operation, argument, flags: lambda run, reached: 0,
}
