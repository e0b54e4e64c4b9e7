"""``qpolicy fmt``: formats policy files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import click

from qpolicy.bind.files import read_policy
from qpolicy.cli.failure import CLEAN, FOUND, exit_code_of, told, worst
from qpolicy.cli.replacing import replace
from qpolicy.cli.terminal import complain, say
from qpolicy.lang import decode, format_source
from qpolicy.lint.reporters.checked import counted

_STDIN = "-"


@dataclass(frozen=True, slots=True)
class Formatted:
    """A policy's bytes before and after.

    Attributes:
        name: The file's name for messages.
        before: Its bytes as they are.
        after: Its bytes as they should be.
    """

    name: str
    before: bytes
    after: bytes

    @property
    def changed(self) -> bool:
        """Whether formatting changes anything."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the difference as a unified diff."""
        before, after = (data.decode().splitlines() for data in (self.before, self.after))
        return "\n".join(unified_diff(before, after, self.name, f"{self.name} (formatted)", lineterm=""))


@click.command("fmt")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change, and exit with 1 if anything would.")
def command(files: tuple[str, ...], check: bool, diff: bool) -> int:
    """Format policy files in place; `-` reads standard input and writes standard output.

    A file that does not parse is left alone and the others are formatted.
    """
    if _STDIN in files and len(files) > 1:
        raise click.UsageError("'-' goes alone, without other files")
    finish = _show if diff else _tell if check else _put
    codes, changed = [], 0
    for file in files:
        code, did_change = _attempt(file, finish)
        codes.append(code)
        changed += did_change
    if files != (_STDIN,) and not diff:
        say(_summary(changed, len(codes) - changed, sum(code not in (CLEAN, FOUND) for code in codes), check))
    return worst(codes)


def _summary(changed: int, kept: int, failed: int, check: bool) -> str:
    told = f"{counted(changed, 'file')} {'would change' if check else 'formatted'}, {kept - failed} left as is"
    return f"{told}, {failed} could not be formatted" if failed else told


def _attempt(file: str, finish: Callable[[str, Formatted], int]) -> tuple[int, bool]:
    """Format one file and return its exit code and whether it changes; a failure is told at once."""
    try:
        formatted = format_one(file)
        return finish(file, formatted), formatted.changed
    except BrokenPipeError:
        raise
    except Exception as error:
        complain(told(error))
        return exit_code_of(error), False


def format_one(file: str) -> Formatted:
    """Format one policy file, or standard input for ``-``.

    Raises:
        PolicySyntaxError: It does not parse.
        QPolicyError: It cannot be read.
    """
    name = "<stdin>" if file == _STDIN else file
    before = sys.stdin.buffer.read() if file == _STDIN else read_policy(Path(file))
    return Formatted(name, before, format_source(decode(before, name)).encode())


def _show(file: str, formatted: Formatted) -> int:
    if formatted.changed:
        say(formatted.diff())
    return FOUND if formatted.changed else CLEAN


def _tell(file: str, formatted: Formatted) -> int:
    if formatted.changed:
        say(f"{formatted.name}: would change")
    return FOUND if formatted.changed else CLEAN


def _put(file: str, formatted: Formatted) -> int:
    if file == _STDIN:
        sys.stdout.flush()
        sys.stdout.buffer.write(formatted.after)
    elif formatted.changed:
        replace(Path(file), formatted.after)
        say(f"{formatted.name}: formatted")
    return CLEAN
