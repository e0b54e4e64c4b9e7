"""Bounds the work that something takes, counted in function calls: the same on every machine, busy or not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail if the block makes more function calls than this, those into C included."""
    seen = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert seen <= calls, f"{seen:,} function calls, at most {calls:,} are expected"
