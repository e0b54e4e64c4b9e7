"""What to say about a statement that the grammar does not accept."""

from __future__ import annotations

from lark import Token

from qpolicy.lang.grammar import span_of
from qpolicy.lang.issue import Complaint


def diagnose(words: list[Token], index: int) -> Complaint:
    """Return what is wrong with a statement whose token at this index does not fit."""
    return Complaint("QP004", "syntax", span_of(words[min(index, len(words) - 1)]))
