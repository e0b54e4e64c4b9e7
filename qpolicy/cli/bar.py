"""A bar on stderr for work whose size is known, but only on a terminal and only when it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from qpolicy.cli import progress
from qpolicy.lint.reporters.escape import escape

Update = Callable[[str, int, int], None]


@contextmanager
def bar(work: str) -> Iterator[Update]:
    """Show a bar on stderr while the block runs, if it runs longer than :data:`qpolicy.cli.progress.PATIENCE`.

    Args:
        work: What all of it is.

    Yields:
        A function to call again and again with what is being done, how much of it is done, and how much there is to do
        or 0 where nobody knows.
    """
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    shown = _Shown(work, time.monotonic() + progress.PATIENCE)
    try:
        yield shown.update
    finally:
        shown.end()


class _Shown:
    def __init__(self, work: str, start: float) -> None:
        self._work, self._start = escape(work), start
        self._bar: Any = None
        self._task: Any = None

    def update(self, doing: str, done: int, total: int) -> None:
        if time.monotonic() < self._start:
            return
        if self._bar is None:
            self._bar = _rich_bar()
            self._task = self._bar.add_task(self._work, total=None, said="")
            self._bar.start()
        counted = f"{done:,} of {total:,} " if total else f"{done:,} " if done else ""
        self._bar.update(self._task, completed=done, total=total or None, said=f"{counted}{escape(doing)}")

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _rich_bar() -> Any:
    from rich.console import Console  # noqa: PLC0415 - takes longer to import than most commands to run
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    texts = [TextColumn(f"{{task.{name}}}", markup=False) for name in ("description", "fields[said]")]
    console = Console(stderr=True)
    return Progress(texts[0], BarColumn(), texts[1], TimeElapsedColumn(), console=console, transient=True)
