"""``qpolicy lint``: looks at policy files alone, without a checkpoint."""

from __future__ import annotations

import click

from qpolicy.bind import load
from qpolicy.cli import options
from qpolicy.cli.batch import run_batch
from qpolicy.cli.policies import policy_path
from qpolicy.lint.syntax import findings_of
from qpolicy.lang import PolicySyntaxError
from qpolicy.lint.policy import lint_policy
from qpolicy.lint.reporters import Checked


@click.command("lint")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options.output_format("text", "concise", "json")
def command(files: tuple[str, ...], format_: str) -> int:
    """Look at policy files alone, without a checkpoint.

    Does each parse, patterns and sets included? Is every rule ever reached, and does every pattern add something?

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
        policy = load(path)
    except PolicySyntaxError as error:
        return Checked(str(path), findings_of(error))
    return Checked(str(path), lint_policy(policy))
