"""Checks several inputs one by one and reports on all of them together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from qpolicy.cli.failure import CLEAN, FOUND, exit_code_of, told, worst
from qpolicy.cli.terminal import complain, paint_for, width, write
from qpolicy.lint.reporters import Checked, render
from qpolicy.lint.reporters.checked import is_clean


def run_batch(names: Iterable[str], check: Callable[[str], Checked], format_: str, *, silent: bool = False) -> int:
    """Check each input, print one report and return the exit code.

    An input that cannot be checked is told on stderr and does not hide what was found in the others. Nothing is
    printed on stdout when none could be checked, so that no empty report can be taken for a clean one.

    Args:
        names: The inputs as the user named them.
        check: Checks one of them.
        format_: A key of :data:`qpolicy.lint.reporters.REPORTERS`.
        silent: Print no report, only the messages about inputs that cannot be checked.
    """
    results = [_attempt(name, check) for name in names]
    checked = [one for one, _ in results if one is not None]
    if checked and not silent:
        write(render(checked, format_, paint=paint_for(sys.stdout), width=width()))
    return worst(code for _, code in results)


def _attempt(name: str, check: Callable[[str], Checked]) -> tuple[Checked | None, int]:
    try:
        checked = check(name)
    except Exception as error:
        message = told(error)
        complain(message if name in message else f"{name}: {message}")
        return None, exit_code_of(error)
    return checked, CLEAN if is_clean(checked.findings) else FOUND
