"""Turns every failure into a message on stderr and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable

import click

from qpolicy.cli.terminal import complain, leave_quietly
from qpolicy.errors import QPolicyError

CLEAN, FOUND, BROKEN, NOTHING = 0, 1, 2, 3
INTERRUPTED = 130
READER_GONE = 141

_TOLD = 300

_WORST_FIRST = (BROKEN, FOUND, NOTHING, CLEAN)


def worst(codes: Iterable[int]) -> int:
    """Return the exit code for several inputs together.

    Broken input comes before findings, because the findings are then incomplete; findings come before nothing to
    check, because they need an action; and nothing to check comes before clean, because clean would claim too much.
    """
    return min(codes, key=_WORST_FIRST.index, default=CLEAN)


def guarded(run: Callable[[], int | None]) -> int:
    """Run a command and return its exit code, whatever happens in it.

    Click's own errors pass through: they are wrong use, and click prints them with the command's usage.
    """
    try:
        code = run() or CLEAN
        sys.stdout.flush()
    except (click.ClickException, click.exceptions.Exit):
        raise
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        leave_quietly()
        return READER_GONE
    except Exception as error:
        complain(told(error))
        return exit_code_of(error)
    return code


def told(error: Exception) -> str:
    """Return what the user reads about a failure: its text, or a request to report it where it is a defect."""
    if isinstance(error, QPolicyError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'input'}: {error.strerror or error}"
    if os.environ.get("QPOLICY_DEBUG"):
        return "".join(traceback.format_exception(error)).rstrip()
    what = f"{type(error).__name__}: {' '.join(str(error).split())[:_TOLD]}"
    return f"internal error: {what}; please report it, and run again with QPOLICY_DEBUG=1 for a traceback"


def exit_code_of(error: Exception) -> int:
    """Return the exit code that a failure stands for."""
    return error.exit_code if isinstance(error, QPolicyError) else BROKEN
