"""Regular expressions from strangers, matched in bounded time.

Engines hand such an entry to Python's ``re``, which can backtrack for ages and cannot be interrupted. Here a pattern
is first parsed by ``re``'s own parser and judged: where no name of ordinary length can make it expensive, ``re``
answers. Every other pattern is matched by following all positions at once (`qpolicy.native.positions`), which
takes time proportional to the pattern times the name and gives the same answer. What that cannot express
(back-references and the like, in a pattern that is expensive) is refused.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from qpolicy.native import cost
from qpolicy.native.positions import Positions, Spent

LONGEST_PATTERN = 10_000
LONGEST_QUICK_NAME = 256

_LEADING_FLAGS = re.compile(r"(?:\(\?[aiLmsux]+\))+")
# The parser is not public, but it is the only one that reads exactly what the engines' `re` reads.
_parser = importlib.import_module("re._parser")


class RegexError(Exception):
    """A pattern that cannot be used.

    Attributes:
        reason: What is wrong with it.
        broken: True when Python's own `re` refuses it too, as an engine would; False when only its cost is at fault.
    """

    def __init__(self, reason: str, *, broken: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.broken = broken


@dataclass(frozen=True, slots=True, eq=False)
class Regex:
    """A compiled pattern with a bounded `match`.

    Attributes:
        text: The pattern.
        plain: True when it may stand as one alternative in a larger pattern: no flags, no groups that are referred to.
        compiled: The pattern for ``re``, when ``re`` is safe on names of ordinary length.
        positions: The pattern for the bounded matcher, when it can express it. One of the two is always there.
    """

    text: str
    plain: bool
    compiled: re.Pattern[str] | None
    positions: Positions | None

    def match(self, name: str) -> bool:
        """Tell whether the pattern matches from the start of the name, as ``re.match`` does.

        Raises:
            RegexError: The name is too long for this pattern to be matched in bounded time.
        """
        if self.compiled is not None and len(name) <= LONGEST_QUICK_NAME:
            return self.compiled.match(name) is not None
        if self.positions is None:
            raise RegexError(f"it cannot be matched in bounded time on a name of {len(name)} characters", broken=False)
        try:
            return self.positions.match(name)
        except Spent:
            raise RegexError("matching it takes too many steps", broken=False) from None


@lru_cache(maxsize=8192)
def compile_regex(text: str) -> Regex:
    """Compile a pattern.

    Raises:
        RegexError: It is malformed, too long, nested too deeply, or cannot be matched in bounded time.
    """
    if len(text) > LONGEST_PATTERN:
        raise RegexError(f"it is {len(text)} characters long, at most {LONGEST_PATTERN} are read", broken=False)
    tree = _guarded(lambda: _parser.parse(text))
    verdict = cost.judge(tree)
    if verdict.too_deep:
        raise RegexError("its groups are nested too deeply", broken=False)
    if verdict.quick:
        compiled = _guarded(lambda: re.compile(text))
        return Regex(text, verdict.plain, compiled, Positions(tree) if verdict.simple else None)
    if not verdict.simple:
        raise RegexError("it could backtrack forever and uses what cannot be bounded", broken=False)
    return Regex(text, False, None, Positions(tree))


def anchored(text: str, mode: str) -> Regex:
    """Compile a pattern so that `Regex.match` answers what ``re.match``, ``re.fullmatch`` or ``re.search`` would.

    Args:
        text: The pattern.
        mode: The function's name.

    Raises:
        RegexError: As for `compile_regex`.
    """
    plain = compile_regex(text)
    if mode == "match":
        return plain
    # Flags for the whole pattern may stand only at its very beginning; in verbose mode a comment ends with the line.
    flags = _LEADING_FLAGS.match(text)
    lead, body = (flags[0], text[flags.end() :]) if flags else ("", text)
    close = "\n)" if "x" in lead else ")"
    return compile_regex(f"{lead}(?:{body}{close}\\Z" if mode == "fullmatch" else f"{lead}[\\s\\S]*?(?:{body}{close}")


def _guarded(act: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return act()
    except (re.error, OverflowError) as error:
        raise RegexError(f"it is not a regular expression: {error}", broken=True) from None
    except RecursionError:
        raise RegexError("its groups are nested too deeply", broken=False) from None
