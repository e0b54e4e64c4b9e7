"""Matches a parsed regular expression by following every position at once.

The positions in the name that a match may have reached are the bits of one integer, so each node of the pattern costs
a few operations, whatever it is repeated in. Which of several matches ``re`` would prefer does not matter: only
whether there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_STEPS = 200_000


class Spent(Exception):  # noqa: N818 - it reports a state, the caller decides whether it is an error
    """The step budget is used up."""


@dataclass(slots=True)
class _Run:
    name: str
    flags: int
    steps: int = _STEPS
    fitting: dict[tuple[str, Any], int] = field(default_factory=dict)

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Spent


def match(tree: Any, name: str) -> bool:
    """Tell whether the pattern matches from the start of the name.

    Args:
        tree: A parse tree for which `qpolicy.native.cost.judge` says ``simple``.
        name: The name.

    Raises:
        Spent: More than a fixed number of steps would be needed.
    """
    return _sequence(_Run(name, tree.state.flags), tree, 1) != 0


def _sequence(run: _Run, tree: Any, reached: int) -> int:
    for node, argument in tree:
        if not reached:
            return 0
        run.spend()
        reached = _STEP.get(str(node), _one_character)(run, (node, argument), reached)
    return reached


def _one_character(run: _Run, node: Any, reached: int) -> int:
    operation, argument = str(node[0]), node[1]
    key = (operation, id(argument) if isinstance(argument, list) else argument)
    if key not in run.fitting:
        run.fitting[key] = sum(1 << place for place, one in enumerate(run.name) if _fits(run, node, one))
    return (reached & run.fitting[key]) << 1


def _fits(run: _Run, node: Any, character: str) -> bool:
    operation, argument = str(node[0]), node[1]
    if operation == "ANY":
        return character != "\n" or bool(run.flags & re.DOTALL)
    spellings = {character}
    if run.flags & re.IGNORECASE:
        spellings |= {character.lower(), character.upper()}
    if operation == "IN":
        return _in_class(argument, spellings)
    return any(ord(spelling) == argument for spelling in spellings if len(spelling) == 1) == (operation == "LITERAL")


def _in_class(members: list[Any], spellings: set[str]) -> bool:
    negated = str(members[0][0]) == "NEGATE"
    found = any(_MEMBER[str(kind)](argument, one) for kind, argument in members[negated:] for one in spellings)
    return found != negated


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_MEMBER: dict[str, Callable[[Any, str], bool]] = {
    "LITERAL": lambda argument, one: len(one) == 1 and ord(one) == argument,
    "RANGE": lambda argument, one: len(one) == 1 and argument[0] <= ord(one) <= argument[1],
    "CATEGORY": lambda argument, one: _CATEGORY[str(argument)](one),
}
_CATEGORY: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_NOT_DIGIT": lambda one: not one.isdecimal(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda one: not one.isspace(),
    "CATEGORY_WORD": _is_word,
    "CATEGORY_NOT_WORD": lambda one: not _is_word(one),
}


def _repeat(run: _Run, node: Any, reached: int) -> int:
    least, most, body = node[1]
    for _ in range(least):
        before, reached = reached, _sequence(run, body, reached)
        if reached in (0, before):
            break
    if not reached:
        return 0
    every, fresh, count = reached, reached, int(least)
    while fresh and count < most:
        fresh = _sequence(run, body, fresh) & ~every
        every |= fresh
        count += 1
    return every


def _branch(run: _Run, node: Any, reached: int) -> int:
    found = 0
    for branch in node[1][1]:
        found |= _sequence(run, branch, reached)
    return found


def _group(run: _Run, node: Any, reached: int) -> int:
    return _sequence(run, node[1][3], reached)


def _assertion(run: _Run, node: Any, reached: int) -> int:
    direction, body = node[1]
    wanted = str(node[0]) == "ASSERT"
    kept = 0
    for place in range(reached.bit_length()):
        if reached >> place & 1 and _holds(run, direction, body, place) == wanted:
            kept |= 1 << place
    return kept


def _holds(run: _Run, direction: int, body: Any, place: int) -> bool:
    if direction > 0:
        return _sequence(run, body, 1 << place) != 0
    width = body.getwidth()[0]
    return place >= width and bool(_sequence(run, body, 1 << (place - width)) >> place & 1)


def _anchor(run: _Run, node: Any, reached: int) -> int:
    name = run.name
    return reached & sum(1 << place for place in range(len(name) + 1) if _ANCHOR[str(node[1])](name, place))


def _at_boundary(name: str, place: int) -> bool:
    before = place > 0 and _is_word(name[place - 1])
    after = place < len(name) and _is_word(name[place])
    return before != after


_ANCHOR: dict[str, Callable[[str, int], bool]] = {
    "AT_BEGINNING": lambda name, place: place == 0,
    "AT_BEGINNING_STRING": lambda name, place: place == 0,
    "AT_END": lambda name, place: place == len(name) or (place == len(name) - 1 and name[place] == "\n"),
    "AT_END_STRING": lambda name, place: place == len(name),
    "AT_BOUNDARY": _at_boundary,
    # Python before 3.14 finds no place at all inside an empty string that is not a boundary.
    "AT_NON_BOUNDARY": lambda name, place: bool(name) and not _at_boundary(name, place),
}
_STEP: dict[str, Callable[[_Run, Any, int], int]] = {
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "BRANCH": _branch,
    "SUBPATTERN": _group,
    "ASSERT": _assertion,
    "ASSERT_NOT": _assertion,
    "AT": _anchor,
    "FAILURE": lambda run, node, reached: 0,
}
