"""Rooms that do not import each other hold some tables twice; the copies are equal."""

from __future__ import annotations

from qpolicy.checkpoint import DTYPES
from qpolicy.lang import words


def test_both_know_the_same_dtypes() -> None:
    assert set(words.DTYPES) == set(DTYPES)
    assert set(words.DTYPE_ALIASES.values()) <= set(DTYPES)
