"""How expensive a regular expression can become, judged from its parse tree before it is ever run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A name of this length may be matched in at most this many ways.
_NAME = 100
_LIMIT = 100_000
_DEEPEST = 50
_NEVER = float("inf")

_FLAGS = re.UNICODE | re.IGNORECASE | re.DOTALL
_SIMPLE = frozenset(
    re.split(r"\s+", "LITERAL NOT_LITERAL ANY IN BRANCH SUBPATTERN MAX_REPEAT MIN_REPEAT AT ASSERT ASSERT_NOT FAILURE")
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a pattern before it runs.

    Attributes:
        quick: Backtracking over it stays cheap.
        simple: `qpolicy.native.positions` can express it.
        plain: It may be joined with others into one alternation.
        too_deep: Its nesting could exhaust the stack.
    """

    quick: bool
    simple: bool
    plain: bool
    too_deep: bool


def judge(tree: Any) -> Verdict:
    """Judge a tree of ``re``'s parser."""
    if _depth(tree) > _DEEPEST:
        return Verdict(quick=False, simple=False, plain=False, too_deep=True)
    flags = tree.state.flags
    used = _used(tree)
    quick = _ways(tree) <= _LIMIT
    simple = used <= _SIMPLE and not flags & ~_FLAGS
    plain = quick and simple and flags == re.UNICODE.value and not tree.state.groupdict
    return Verdict(quick, simple, plain, too_deep=False)


def children(operation: str, argument: Any) -> list[Any]:
    """Return the sub-patterns of one node."""
    return _CHILDREN.get(operation, lambda _: [])(argument)


_CHILDREN: dict[str, Callable[[Any], list[Any]]] = {
    "BRANCH": lambda argument: list(argument[1]),
    "SUBPATTERN": lambda argument: [argument[3]],
    "MAX_REPEAT": lambda argument: [argument[2]],
    "MIN_REPEAT": lambda argument: [argument[2]],
    "POSSESSIVE_REPEAT": lambda argument: [argument[2]],
    "ATOMIC_GROUP": lambda argument: [argument],
    "ASSERT": lambda argument: [argument[1]],
    "ASSERT_NOT": lambda argument: [argument[1]],
    "GROUPREF_EXISTS": lambda argument: [part for part in argument[1:] if part is not None],
}


def _depth(tree: Any) -> int:
    """Count nested sub-patterns, level by level, so that no depth can exhaust our own stack."""
    level, depth = [tree], 0
    while level and depth <= _DEEPEST:
        level = [child for part in level for node, argument in part for child in children(str(node), argument)]
        depth += 1
    return depth


def _used(tree: Any) -> set[str]:
    used: set[str] = set()
    for node, argument in tree:
        operation = str(node)
        # Flags that change inside a group are not followed by the position matcher.
        used.add("FLAGS" if operation == "SUBPATTERN" and (argument[1] or argument[2]) else operation)
        for child in children(operation, argument):
            used |= _used(child)
    return used


def _ways(tree: Any) -> float:
    """Bound in how many ways the pattern can be laid over a name of `_NAME` characters."""
    product = 1.0
    for node, argument in tree:
        operation = str(node)
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            product *= _repeat_ways(*argument)
        elif operation == "BRANCH":
            product *= sum(_ways(branch) for branch in argument[1])
        elif operation in ("GROUPREF", "GROUPREF_EXISTS"):
            return _NEVER
        else:
            for child in children(operation, argument):
                product *= _ways(child)
    return product


def _repeat_ways(least: int, most: int, body: Any) -> float:
    inside = _ways(body)
    if most <= 1:
        return 1 + inside
    narrowest, _ = body.getwidth()
    if inside > 1 or narrowest == 0:
        return _NEVER
    return max(1, min(int(most), _NAME) - least + 1)
