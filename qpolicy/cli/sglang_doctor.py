"""``qpolicy sglang doctor``: is the plugin found, attached and asked, and which policy would it take?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click

from qpolicy.checkpoint import open_checkpoint
from qpolicy.cli import options
from qpolicy.cli.doctored import Diagnosis, as_json, as_text
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.progress import progress
from qpolicy.cli.terminal import write
from qpolicy.sglang.doctor_check import Check
from qpolicy.sglang.doctor_run import examine, installed
from qpolicy.sglang.doctor_settings import policy_seen, settings_seen
from qpolicy.sglang.settings import Mode, Settings

_ELSEWHERE = re.compile(r"[\w.-]+/[\w.-]+|\w+://.+")


@click.command("doctor")
@click.argument("checkpoint", metavar="[CKPT]", required=False, shell_complete=options.folders)
@options.output_format("text", "json")
def command(checkpoint: str | None, format_: str) -> int:
    """Examine the plugin in the SGLang that is installed here, in a process apart.

    Is it found by SGLang's own discovery, is each hook attached to a live target, do the layers of a small model get
    the answers of its policy? Says as well how the settings are read and, for a CKPT (a folder, or what else SGLang
    takes as a model's path), which policy would be taken, whether it binds, and its digest. Needs no GPU.
    """
    release, folder = installed()
    _require(checkpoint)
    settings, seen = settings_seen(os.environ)
    with progress("examining the plugin in SGLang"):
        checks = (*examine(), *seen, *_policy(checkpoint, settings))
    off = settings is not None and settings.mode is Mode.OFF
    diagnosis = Diagnosis(release, folder, checks, off)
    write(as_json(diagnosis) if format_ == "json" else as_text(diagnosis))
    return FOUND if any(check.status == "fail" for check in checks) else CLEAN


def _require(checkpoint: str | None) -> None:
    """Open a checkpoint here; what is not here, SGLang may look for elsewhere.

    Raises:
        CheckpointError: It is broken, or what is given can be neither a folder nor elsewhere.
        NothingToCheckError: The folder holds no checkpoint that can be looked at.
    """
    if checkpoint is not None and (Path(checkpoint).exists() or not _ELSEWHERE.fullmatch(checkpoint)):
        open_checkpoint(checkpoint)


def _policy(checkpoint: str | None, settings: Settings | None) -> Iterator[Check]:
    if checkpoint is None:
        return
    if settings is None:
        yield Check("policy", checkpoint, "note", "not looked for: a server would stop at the settings")
        return
    yield from policy_seen(checkpoint, settings)
