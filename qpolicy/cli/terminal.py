"""Where the command line writes: text that no terminal and no encoding can be upset by."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from qpolicy.lint.reporters.escape import escape_lines
from qpolicy.lint.reporters.paint import Paint, coloured, plain

_WIDTH = 100


def write(text: str) -> None:
    """Write to stdout text whose unprintable characters are escaped already."""
    sys.stdout.write(_encodable(text, sys.stdout))


def say(text: str = "") -> None:
    """Write a line, or several, to stdout; unprintable characters are escaped."""
    write(escape_lines(text) + "\n")


def complain(text: str) -> None:
    """Write a message to stderr; unprintable characters are escaped."""
    sys.stderr.write(_encodable(escape_lines(text) + "\n", sys.stderr))
    sys.stderr.flush()


def paint_for(stream: TextIO) -> Paint:
    """Return the colouring for a stream.

    Colour is for terminals. A ``FORCE_COLOR`` that is not empty asks for it elsewhere too, a ``NO_COLOR`` that is not
    empty forbids it and wins.
    """
    if os.environ.get("NO_COLOR"):
        return plain
    if os.environ.get("FORCE_COLOR"):
        return coloured
    return coloured if stream.isatty() and os.environ.get("TERM") != "dumb" else plain


def width() -> int:
    """Return the width for sentences: the terminal's, within reason."""
    return min(max(shutil.get_terminal_size((_WIDTH, 24)).columns, 40), 120) if sys.stdout.isatty() else _WIDTH


def leave_quietly() -> None:
    """Point stdout nowhere, so that closing it on exit does not complain about a reader that has left."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _encodable(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
