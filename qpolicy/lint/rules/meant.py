"""Which syntax a pattern was meant as that is none."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from qpolicy.lang.tree import PatternRef, Rule, Statement

_OTHERWISE = "otherwise"
_ALSO_CALLED = frozenset({"else", "default"})
_ALIKE = 0.8

# A whole segment, in braces or not, with a hyphen or an en dash; one in quotes is meant as it stands.
_RANGE = re.compile("(?<![^.])\\{?([0-9]+)[-\u2013]([0-9]+)\\}?(?![^.])")

# The same in the quotes that word processors make of straight ones.
_QUOTED = re.compile('(?<![^.])[\u201c\u201d\u201e]([^."\u201c\u201d\u201e]+)[\u201c\u201d](?![^.])')


def meant(written: PatternRef, statement: Statement) -> str | None:
    """Return what was probably meant by a pattern that parses and yet looks like misspelt syntax, or None.

    Args:
        written: The pattern.
        statement: The statement that it stands in.
    """
    plain = _QUOTED.sub(r'"\1"', _RANGE.sub(r"{\1..\2}", written.text))
    if plain != written.text:
        return plain
    alone = isinstance(statement, Rule) and statement.condition is None and statement.selectors == (written,)
    return _OTHERWISE if alone and _is_otherwise(written.text.lower()) else None


def _is_otherwise(word: str) -> bool:
    alike = word.isidentifier() and SequenceMatcher(None, word, _OTHERWISE).ratio() >= _ALIKE
    return alike or word in _ALSO_CALLED
