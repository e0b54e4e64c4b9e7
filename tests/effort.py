"""Bounds the work that something takes, counted in function calls: the same on every machine, busy or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from cProfile import Profile


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail if the block makes more function calls than this, those into C included."""
    profile = Profile()
    with profile:
        yield
    seen = sum(entry.callcount for entry in profile.getstats())
    assert seen <= calls, f"{seen:,} function calls, at most {calls:,} are expected"
