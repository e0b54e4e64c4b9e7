"""Regular expressions and globs as sequences of a few tokens, as far as a pattern of the language could say them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any, TypeAlias

from qpolicy.errors import QPolicyError

MOST_SEQUENCES = 256
"""Into how many alternatives one expression is taken apart."""

MOST_TOKENS = 2_000

_parser = importlib.import_module("re._parser")
_GLOB = re.compile(r"\[!?\]?[^\]]*\]|\*+|.", re.DOTALL)


class Token(Enum):
    """What an expression may hold beside characters."""

    ANYTHING = "none or more characters, dots included"
    SOMETHING = "one or more characters, dots included"
    WITHIN = "none or more characters of one segment"
    PART = "one or more characters of one segment"
    NUMBER = "digits"


Piece: TypeAlias = str | Token
Tokens: TypeAlias = tuple[Piece, ...]


class InexpressibleError(QPolicyError):
    """An expression uses what no pattern of the language can say."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """An expression taken apart.

    Attributes:
        sequences: Its alternatives; each describes whole names.
        exact: False where a single free character was taken for a dot, as it was most likely meant.
    """

    sequences: tuple[Tokens, ...]
    exact: bool = True


def parse_regex(text: str, *, whole: bool = False) -> Parsed:
    """Take a regular expression apart that is matched from the start of a name.

    Args:
        text: The expression.
        whole: It has to match up to the name's end; otherwise anything may follow a match.

    Raises:
        InexpressibleError: It is malformed, or uses what no pattern can say.
    """
    try:
        tree = list(_parser.parse(text))
    except (re.error, OverflowError, RecursionError) as error:
        raise InexpressibleError(f"it is not a regular expression: {error}") from None
    if tree and tree[0] == (_parser.AT, _parser.AT_BEGINNING):
        tree = tree[1:]
    closed = bool(tree) and tree[-1] in ((_parser.AT, _parser.AT_END), (_parser.AT, _parser.AT_END_STRING))
    reader = _Reader()
    sequences = reader.sequence(tree[:-1] if closed else tree)
    if not whole and not closed:
        sequences = [(*tokens, Token.ANYTHING) for tokens in sequences]
    return Parsed(tuple(dict.fromkeys(sequences)), reader.exact)


def parse_glob(text: str) -> Parsed:
    """Take a shell pattern apart that is matched against whole names.

    Raises:
        InexpressibleError: It uses what no pattern can say.
    """
    found: list[Piece] = []
    for part in _GLOB.findall(text):
        if part.startswith("*"):
            found.append(Token.ANYTHING)
        elif len(part) > 1 or part == "?":
            raise InexpressibleError(f"no pattern stands for the single character {part!r}")
        else:
            found.append(part)
    return Parsed((tuple(found),))


class _Reader:
    """Walks the tree of a regular expression."""

    def __init__(self) -> None:
        self.exact = True

    def sequence(self, tree: Iterable[tuple[Any, Any]]) -> list[Tokens]:
        """Return the alternatives of a part of the expression."""
        found: list[Tokens] = [()]
        for node in self._joined(list(tree)):
            found = _crossed(found, self._node(*node))
        return found

    def _joined(self, tree: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        """Yield the nodes; a free character beside ``.*`` makes it ``.+``."""
        skip = False
        for node, after in zip(tree, [*tree[1:], (None, None)], strict=True):
            if skip:
                skip = False
            elif node[0] == _parser.ANY and _is_anything(after):
                skip = True
                yield _parser.MAX_REPEAT, (1, _parser.MAXREPEAT, [(_parser.ANY, None)])
            else:
                yield node

    def _node(self, kind: Any, value: Any) -> list[Tokens]:
        if kind == _parser.LITERAL:
            return [(chr(value),)]
        if kind == _parser.ANY:
            self.exact = False
            return [(".",)]
        if kind == _parser.IN:
            return [(character,) for character in _characters(value)]
        if kind == _parser.BRANCH:
            return [tokens for branch in value[1] for tokens in self.sequence(branch)]
        if kind == _parser.SUBPATTERN:
            return self.sequence(value[-1])
        if kind in (_parser.MAX_REPEAT, _parser.MIN_REPEAT):
            return self._repeat(*value)
        raise InexpressibleError("it uses a condition that no pattern can say")

    def _repeat(self, least: int, most: Any, inside: Any) -> list[Tokens]:
        body = list(inside)
        if most == _parser.MAXREPEAT and len(body) == 1 and least <= 1:
            return [_repeated(body[0], least)]
        if most == _parser.MAXREPEAT or most > 3:
            raise InexpressibleError("it repeats something that no pattern can repeat")
        once = self.sequence(body)
        found: list[Tokens] = []
        for times in range(least, most + 1):
            row: list[Tokens] = [()]
            for _ in range(times):
                row = _crossed(row, once)
            found += row
        return found


def _repeated(node: tuple[Any, Any], least: int) -> Tokens:
    kind, value = node
    if kind == _parser.ANY:
        return (Token.SOMETHING,) if least else (Token.ANYTHING,)
    if kind == _parser.IN and least and _is_digits(value):
        return (Token.NUMBER,)
    if kind == _parser.NOT_LITERAL and chr(value) == ".":
        return (Token.PART,) if least else (Token.WITHIN,)
    raise InexpressibleError("it repeats something that no pattern can repeat")


def _is_anything(node: tuple[Any, Any]) -> bool:
    kind, value = node
    if kind not in (_parser.MAX_REPEAT, _parser.MIN_REPEAT):
        return False
    return bool(value[:2] == (0, _parser.MAXREPEAT) and list(value[2]) == [(_parser.ANY, None)])


def _is_digits(members: Sequence[tuple[Any, Any]]) -> bool:
    return list(members) in (
        [(_parser.CATEGORY, _parser.CATEGORY_DIGIT)],
        [(_parser.RANGE, (ord("0"), ord("9")))],
    )


def _characters(members: Sequence[tuple[Any, Any]]) -> list[str]:
    found: list[str] = []
    for kind, value in members:
        if kind == _parser.LITERAL:
            found.append(chr(value))
        elif kind == _parser.RANGE and value[1] - value[0] < 32:
            found += [chr(code) for code in range(value[0], value[1] + 1)]
        elif (kind, value) == (_parser.CATEGORY, _parser.CATEGORY_DIGIT):
            found += "0123456789"
        else:
            raise InexpressibleError("it uses a class of characters that no pattern can say")
    return found


def _crossed(before: list[Tokens], after: list[Tokens]) -> list[Tokens]:
    if len(before) * len(after) > MOST_SEQUENCES:
        raise InexpressibleError(f"it has more than {MOST_SEQUENCES} alternatives")
    found = [(*one, *other) for one, other in product(before, after)]
    if any(len(tokens) > MOST_TOKENS for tokens in found):
        raise InexpressibleError("it is too long")
    return found
