"""Single characters and places of a regular expression, as ``re`` understands them without its MULTILINE flag."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

OPERATIONS = frozenset(("LITERAL", "NOT_LITERAL", "ANY", "IN"))
"""The nodes of ``re``'s parser that stand for one character."""

Test = Callable[[str], bool]


def test(operation: str, argument: Any, flags: int) -> Test:
    """Return the test that a node of one character puts to a character.

    Args:
        operation: One of `OPERATIONS`.
        argument: The node's argument.
        flags: The pattern's flags; IGNORECASE and DOTALL are heeded.
    """
    if operation == "ANY":
        return (lambda one: True) if flags & re.DOTALL else (lambda one: one != "\n")
    members = argument if operation == "IN" else [("LITERAL", argument)]
    negated = operation == "NOT_LITERAL" or str(members[0][0]) == "NEGATE"
    tests = [_MEMBERS[str(kind)](member) for kind, member in members if str(kind) != "NEGATE"]
    spellings = _cases if flags & re.IGNORECASE else _itself
    return lambda one: any(fits(spelling) for fits in tests for spelling in spellings(one)) != negated


def _itself(one: str) -> tuple[str, ...]:
    return (one,)


def _cases(one: str) -> tuple[str, ...]:
    return tuple(spelling for spelling in (one, one.lower(), one.upper()) if len(spelling) == 1)


def _is_word(one: str) -> bool:
    return one.isalnum() or one == "_"


def _literal(code: int) -> Test:
    return chr(code).__eq__


def _range(bounds: tuple[int, int]) -> Test:
    return lambda one: bounds[0] <= ord(one) <= bounds[1]


_CATEGORIES: dict[str, Test] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_NOT_DIGIT": lambda one: not one.isdecimal(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda one: not one.isspace(),
    "CATEGORY_WORD": _is_word,
    "CATEGORY_NOT_WORD": lambda one: not _is_word(one),
}
_MEMBERS: dict[str, Callable[[Any], Test]] = {
    "LITERAL": _literal,
    "RANGE": _range,
    "CATEGORY": lambda name: _CATEGORIES[str(name)],
}


def _at_boundary(name: str, place: int) -> bool:
    before = place > 0 and _is_word(name[place - 1])
    after = place < len(name) and _is_word(name[place])
    return before != after


ANCHORS: dict[str, Callable[[str, int], bool]] = {
    "AT_BEGINNING": lambda name, place: place == 0,
    "AT_BEGINNING_STRING": lambda name, place: place == 0,
    "AT_END": lambda name, place: place == len(name) or (place == len(name) - 1 and name[place] == "\n"),
    "AT_END_STRING": lambda name, place: place == len(name),
    "AT_BOUNDARY": _at_boundary,
    # Before Python 3.14, `re` finds no place at all in an empty string that is not a boundary.
    "AT_NON_BOUNDARY": lambda name, place: bool(name) and not _at_boundary(name, place),
}
"""The places that an anchor stands for, by the name that ``re``'s parser gives it."""
