"""Writes what a command made: to standard output, or to a file whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

from qpolicy.cli.replacing import replace
from qpolicy.errors import QPolicyError

STDOUT = "-"


def put(text: str, output: str, force: bool) -> None:
    """Write a text.

    Args:
        text: The text.
        output: A file, or ``-`` for standard output.
        force: Replace a file that exists.

    Raises:
        QPolicyError: The file exists.
        OSError: It cannot be written; it is then as it was.
    """
    if output == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        return
    target = Path(output)
    created = not target.exists()
    if not created and not force:
        raise QPolicyError(f"{target}: exists already; --force replaces it, --output FILE writes elsewhere")
    target.touch()
    try:
        replace(target, text.encode())
    except OSError:
        if created:
            target.unlink()
        raise
