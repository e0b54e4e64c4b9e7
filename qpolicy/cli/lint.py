"""``qpolicy lint``: looks at policy files alone, without a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial

import click

from qpolicy.bind.files import BUILTIN, policy_path, read_policy
from qpolicy.cli import options
from qpolicy.cli.batch import run_batch
from qpolicy.cli.replacing import replace
from qpolicy.cli.settings import settings_near
from qpolicy.cli.terminal import say
from qpolicy.errors import QPolicyError
from qpolicy.lang import PolicySyntaxError, decode
from qpolicy.lint.alone import lint_text
from qpolicy.lint.fixing import mended
from qpolicy.lint.reporters import Checked
from qpolicy.lint.settle import Settled
from qpolicy.lint.syntax import findings_of


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for every file of one run.

    Attributes:
        select: What ``--select`` gives.
        ignore: What ``--ignore`` gives.
        fix: Whether to mend the files.
        unsafe: Whether to mend also what changes a policy's meaning.
        diff: Whether to show what would be mended, and to write nothing.
    """

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    fix: bool = False
    unsafe: bool = False
    diff: bool = False


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, shell_complete=options.policies)
@options.select
@options.ignore
@click.option("--fix", is_flag=True, help="Mend what can be mended without changing what the policy means.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: mend also what changes the meaning.")
@click.option("--diff", is_flag=True, help="Write nothing; show what --fix would change.")
@options.output_format("text", "concise", "json", "sarif", "github")
def command(
    files: tuple[str, ...],
    select: Sequence[str],
    ignore: Sequence[str],
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    format_: str,
) -> int:
    """Look at policy files alone, without a checkpoint.

    Does each parse, patterns and sets included? Is every rule ever reached, and does every pattern add something?

    FILE may be builtin:NAME for a policy shipped with qpolicy. What is looked for can be set in the table
    [tool.qpolicy] of a pyproject.toml in the file's folder or above it.
    """
    if unsafe_fixes and not (fix or diff):
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff")
    if fix and diff:
        raise click.UsageError("--diff writes nothing, and --fix writes; choose one of them")
    job = Job(select, ignore, fix, unsafe_fixes, diff)
    return run_batch(files, partial(lint_one, job=job), format_, silent=diff)


def lint_one(file: str, job: Job) -> Checked:
    """Look at one policy file, and mend it if that is wanted.

    Raises:
        QPolicyError: The file cannot be read, or may not be mended.
    """
    path = policy_path(file)
    name = str(path)
    if job.fix and file.startswith(BUILTIN):
        raise QPolicyError(f"{file}: a policy that is shipped with qpolicy is not mended; copy it first")
    selection = settings_near(path.parent).selection(job.select, job.ignore)
    try:
        text = decode(read_policy(path), name).text
    except PolicySyntaxError as error:
        return Checked(name, findings_of(error))

    def look(text: str) -> Settled:
        return lint_text(text, name, selection)

    if not (job.fix or job.diff):
        return _checked(name, look(text))
    fixed = mended(text, look, unsafe=job.unsafe)
    if job.diff:
        if fixed.text != text:
            say(_diff(name, text, fixed.text))
        return _checked(name, look(text))
    if fixed.text != text:
        replace(path, fixed.text.encode())
    return _checked(name, fixed.left, fixed.count)


def _checked(name: str, settled: Settled, fixed: int = 0) -> Checked:
    return Checked(name, settled.findings, suppressed=settled.suppressed, fixed=fixed)


def _diff(name: str, before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (mended)", lineterm="")
    return "\n".join(lines)
