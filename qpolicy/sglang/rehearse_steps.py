"""What a rehearsal is doing right now, told by the process that rehearses to the one that waits for it."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

_OFTEN = 0.1


@dataclass(frozen=True, slots=True)
class Step:
    """What is being done.

    Attributes:
        doing: What it is.
        done: How much of it is done.
        total: How much there is to do; 0 where nobody knows.
    """

    doing: str
    done: int = 0
    total: int = 0


@dataclass(slots=True)
class Steps:
    """Tells steps through a small file, at most every tenth of a second.

    Attributes:
        file: The file; None to tell nobody.
    """

    file: Path | None = None
    _next: float = field(default=0.0, init=False)

    def __call__(self, doing: str, done: int = 0, total: int = 0) -> None:
        """Tell a step; one that comes too soon after the last is not told, unless it is the first of its kind."""
        now = time.monotonic()
        if self.file is None or (done and now < self._next):
            return
        self._next = now + _OFTEN
        fresh = self.file.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps([doing, done, total]), encoding="utf-8")
        fresh.replace(self.file)


def latest(file: Path) -> Step | None:
    """Return the step that was told last; None before the first."""
    try:
        return Step(*json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
