"""``qpolicy init``: writes the policy that a checkpoint already follows."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from qpolicy.analysis.inference import Inferred, infer, infer_with_facts
from qpolicy.bind.files import policy_beside
from qpolicy.checkpoint import Checkpoint, open_checkpoint
from qpolicy.cli import options
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.progress import progress
from qpolicy.cli.replacing import replace
from qpolicy.cli.terminal import complain, say
from qpolicy.errors import QPolicyError
from qpolicy.lint.reporters.checked import counted

DEFAULT_NAME = "model.qpolicy"
_STDOUT = "-"
_SHOWN = 10


@click.command("init")
@options.checkpoint
@click.option("--facts", is_flag=True, help="Write the short form, which asks the tensors where the list is wrong.")
@click.option("--from-list", is_flag=True, help="Say what the checkpoint's list says instead of what the tensors say.")
@click.option(
    "--output",
    metavar="FILE",
    help=f"Where to write; `-` is standard output. By default the policy beside the checkpoint, else {DEFAULT_NAME}.",
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@options.engine
def command(checkpoint: str, facts: bool, from_list: bool, output: str | None, force: bool, engine: str) -> int:
    """Write the shortest policy that agrees with a checkpoint's tensors.

    It names modules by patterns and leaves nothing to the checkpoint's list. Before it is written it is compared with
    every module, of the target and of the draft. Exit code 1 means that it was written, but the checkpoint holds layers
    that no policy can build.
    """
    if facts and from_list:
        raise click.UsageError("--facts asks the tensors and --from-list the list; give one of them")
    with progress(f"learning from {checkpoint}"):
        found = open_checkpoint(checkpoint)
        target = _target(found, output)
        if target is not None and target.exists() and not force:
            raise QPolicyError(f"{target}: exists already; --force replaces it, --output FILE writes elsewhere")
        learned = _learned(found, engine, facts=facts, listed=from_list, name=str(target or "<learned>"))
    _put(target, learned, force)
    return _told(learned)


def _target(checkpoint: Checkpoint, output: str | None) -> Path | None:
    """Return the file to write, or None for standard output.

    Raises:
        QPolicyError: No file is named, and several policies lie beside the checkpoint.
    """
    if output == _STDOUT:
        return None
    if output is not None:
        return Path(output)
    return policy_beside(checkpoint.path, by="--output") or checkpoint.path / DEFAULT_NAME


def _learned(checkpoint: Checkpoint, engine: str, *, facts: bool, listed: bool, name: str) -> Inferred:
    if facts:
        return infer_with_facts(checkpoint, engine=engine, name=name)
    return infer(checkpoint, engine=engine, listed=listed, name=name)


def _put(target: Path | None, learned: Inferred, force: bool) -> None:
    content = learned.text.encode()
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    created = not target.exists()
    target.touch(exist_ok=force)
    try:
        replace(target, content)
    except OSError:
        if created:
            target.unlink()
        raise
    modules = counted(len(learned.evidence.states), "module")
    say(f"{target}: written" + ("" if learned.unmet else f"; it agrees with all {modules}"))


def _told(learned: Inferred) -> int:
    """Tell which layers no policy can build, and return the exit code."""
    for reason in learned.unmet[:_SHOWN]:
        complain(f"no policy can build {reason}")
    if len(learned.unmet) > _SHOWN:
        complain(f"and {len(learned.unmet) - _SHOWN} layers more")
    return FOUND if learned.unmet else CLEAN
