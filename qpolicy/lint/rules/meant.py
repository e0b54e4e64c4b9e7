"""Which syntax a pattern was meant as that is none."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from qpolicy.lang.tree import PatternRef, Rule, Statement

_OTHERWISE = "otherwise"
_ALSO_CALLED = frozenset({"else", "default"})
_ALIKE = 0.8

# A whole segment, in braces or not; one in quotes is meant as it stands.
_RANGE = re.compile(r"(?<![^.])\{?([0-9]+)-([0-9]+)\}?(?![^.])")


def meant(written: PatternRef, statement: Statement) -> str | None:
    """Return what was probably meant by a pattern that parses and yet looks like misspelt syntax, or None.

    Args:
        written: The pattern.
        statement: The statement that it stands in.
    """
    ranges = _RANGE.sub(r"{\1..\2}", written.text)
    if ranges != written.text:
        return ranges
    alone = isinstance(statement, Rule) and statement.condition is None and statement.selectors == (written,)
    return _OTHERWISE if alone and _is_otherwise(written.text.lower()) else None


def _is_otherwise(word: str) -> bool:
    alike = word.isidentifier() and SequenceMatcher(None, word, _OTHERWISE).ratio() >= _ALIKE
    return alike or word in _ALSO_CALLED
