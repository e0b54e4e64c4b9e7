"""Says on stderr what is going on, but only to a terminal and only when it takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer

from qpolicy.lint.reporters.escape import escape

PATIENCE = 1.0
"""Seconds of silence before anything is shown."""


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Show ``doing`` with a spinner on stderr while the block runs, if it runs longer than :data:`PATIENCE`."""
    if not sys.stderr.isatty():
        yield
        return
    with ExitStack() as shown:
        timer = Timer(PATIENCE, _show, (doing, shown))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _show(doing: str, shown: ExitStack) -> None:
    from rich.console import Console  # noqa: PLC0415 - takes longer to import than most commands to run
    from rich.text import Text  # noqa: PLC0415

    shown.enter_context(Console(stderr=True).status(Text(escape(doing))))
