"""``qpolicy lint``: looks at policy files alone, without a checkpoint."""

from __future__ import annotations

import click

from qpolicy.bind import load
from qpolicy.cli import options
from qpolicy.cli.batch import run_batch
from qpolicy.cli.policies import policy_path
from qpolicy.cli.syntax import findings_of
from qpolicy.lang import PolicySyntaxError
from qpolicy.lint.reporters import Checked


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options.output_format("text", "concise", "json")
def command(files: tuple[str, ...], format_: str) -> int:
    """Look at policy files alone, without a checkpoint: does each parse, patterns and sets included?

    FILE may be builtin:NAME for a policy shipped with qpolicy.
    """
    return run_batch(files, lint_one, format_)


def lint_one(file: str) -> Checked:
    """Look at one policy file.

    Raises:
        QPolicyError: The file cannot be read.
    """
    path = policy_path(file)
    try:
        load(path)
    except PolicySyntaxError as error:
        return Checked(str(path), findings_of(error))
    return Checked(str(path), ())
