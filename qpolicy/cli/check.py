"""``qpolicy check``: will these checkpoints load, each module built as it is stored?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from qpolicy.bind import Policy
from qpolicy.checkpoint import open_checkpoint
from qpolicy.cli import options
from qpolicy.cli.batch import run_batch
from qpolicy.cli.policies import named_policy, policy_for
from qpolicy.cli.progress import progress
from qpolicy.cli.settings import settings_near
from qpolicy.errors import NothingToCheckError
from qpolicy.lint.reporters import Checked
from qpolicy.lint.reporters.checked import is_clean
from qpolicy.lint.run import run_checks
from qpolicy.lint.selection import Selection


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for every checkpoint of one run.

    Attributes:
        policy: The policy that was named, or None to look beside each checkpoint.
        engines: The engines that would load it, the first before those that are compared with it.
        draft_checkpoint: The folder of a standalone draft, or None.
        strict: Whether unknown conditions that matter are errors.
        selection: Which findings are wanted.
    """

    policy: Policy | None
    engines: tuple[str, ...]
    draft_checkpoint: str | None
    strict: bool
    selection: Selection


@click.command("check")
@click.argument("checkpoints", metavar="CKPT...", nargs=-1, required=True, shell_complete=options.folders)
@options.policy
@click.option("--draft-checkpoint", metavar="CKPT", help="A standalone draft (EAGLE) that is served with CKPT.")
@options.engines
@options.strict
@options.select
@options.ignore
@options.output_format("text", "concise", "json", "sarif", "github")
def command(
    checkpoints: tuple[str, ...],
    policy: str | None,
    draft_checkpoint: str | None,
    engine: tuple[str, ...],
    strict: bool,
    select: Sequence[str],
    ignore: Sequence[str],
    format_: str,
) -> int:
    """Check that a checkpoint will load, target and draft, and that each module is decided as its tensors say.

    Reads the configs and the safetensors headers, never the weights. With a policy it checks what the policy decides,
    and without one what the checkpoint's own list says.

    With several checkpoints, one that cannot be read does not hide the findings of the others; the exit code is 2 if
    any is broken, else 1 if anything is found, else 3 if any has nothing to check.

    Defaults can be set in the table [tool.qpolicy] of a pyproject.toml in the current folder or above it.
    """
    if draft_checkpoint and len(checkpoints) > 1:
        raise click.UsageError("--draft-checkpoint goes with one CKPT, not with several")
    selection = settings_near(Path.cwd()).selection(select, ignore)
    job = Job(named_policy(policy), engine, draft_checkpoint, strict, selection)
    return run_batch(checkpoints, partial(check_one, job=job), format_)


def check_one(checkpoint: str, job: Job) -> Checked:
    """Check one checkpoint.

    Raises:
        NothingToCheckError: It holds no layer and no other finding.
        QPolicyError: It or its policy cannot be read, or they do not fit each other.
    """
    with progress(f"checking {checkpoint}"):
        opened = open_checkpoint(checkpoint)
        draft = open_checkpoint(job.draft_checkpoint) if job.draft_checkpoint else None
        report = run_checks(
            opened,
            policy_for(opened, job.policy),
            engine=job.engines,
            draft_checkpoint=draft,
            draft_policy=policy_for(draft, None) if draft else None,
            strict=job.strict,
            selection=job.selection,
        )
    if not report.layers and is_clean(report.findings):
        raise NothingToCheckError(f"{checkpoint}: nothing to check: no safetensors file here holds a layer")
    return Checked(checkpoint, report.findings, report.layers, report.suppressed)
