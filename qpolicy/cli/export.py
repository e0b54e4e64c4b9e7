"""``qpolicy export``: turns a policy's decisions into the list of a native dialect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from qpolicy.analysis.exporting import SLOTS, Exported, export
from qpolicy.bind.consulted import consulted
from qpolicy.checkpoint import Checkpoint
from qpolicy.cli import options
from qpolicy.cli.asking import opened
from qpolicy.cli.failure import CLEAN
from qpolicy.cli.output import STDOUT, put
from qpolicy.cli.progress import progress
from qpolicy.cli.splice import with_value
from qpolicy.cli.terminal import complain
from qpolicy.errors import QPolicyError
from qpolicy.lint.reporters.checked import counted

_CONFIG = "config.json"


@click.command("export")
@options.checkpoint
@click.option("--to", "dialect", type=click.Choice(tuple(SLOTS)), required=True, help="Whose list to write.")
@options.engine
@options.policy
@click.option("--write", is_flag=True, help="Put the list into the checkpoint's config file, or into a copy of it.")
@click.option(
    "--output", metavar="FILE", help="Where to write: the list, or with --write the copy of the whole config file."
)
@click.option("--force", is_flag=True, help="Replace a FILE that exists.")
def command(
    checkpoint: str, dialect: str, engine: str, policy: str | None, write: bool, output: str | None, force: bool
) -> int:
    """Write what a policy decides on a checkpoint as the list of another dialect, for engines that know no policies.

    The list is as short as the dialect allows. Before it is written it is read back as the engine reads it, and every
    layer is compared, of the target and of the draft. Exit code 1 means that the dialect cannot say it; the message
    names the modules.

    --write exchanges nothing but the list: every other character of the config file stays as it is.
    """
    found, loaded = opened(checkpoint, policy)
    found = consulted(found, engine)
    with progress(f"exporting {checkpoint}"):
        exported = export(found, loaded, dialect, engine=engine)
    if write:
        put(_spliced(found, exported, dialect), output or str(_file(found)), force or output is None)
    else:
        put(json.dumps(exported.values, indent=2, ensure_ascii=False) + "\n", output or STDOUT, force)
    entries = "1 entry" if len(exported.entries) == 1 else f"{len(exported.entries)} entries"
    complain(
        f"{checkpoint}: {entries}; {engine} reads all "
        f"{counted(exported.checked, 'layer')} as decided" + ("" if exported.own else f", in a common {dialect} config")
    )
    return CLEAN


def _file(checkpoint: Checkpoint) -> Path:
    return checkpoint.path / (checkpoint.quantization_file or _CONFIG).partition(":")[0]


def _place(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return the keys that lead to the quantization config in its file."""
    _, _, key = (checkpoint.quantization_file or "").partition(": ")
    return _way(checkpoint.config, checkpoint.quantization) or ((key,) if key else ())


def _way(inside: object, wanted: object, depth: int = 4) -> tuple[str, ...]:
    """Return the keys that lead to an object inside another, or none."""
    for key, value in inside.items() if isinstance(inside, Mapping) and depth else ():
        if value is wanted:
            return (key,)
        if found := _way(value, wanted, depth - 1):
            return (key, *found)
    return ()


def _spliced(checkpoint: Checkpoint, exported: Exported, dialect: str) -> str:
    """Return the config file's text with the list exchanged.

    Raises:
        QPolicyError: The checkpoint's own config is of another dialect, so that the list has no place in it.
    """
    file = _file(checkpoint)
    if not exported.own:
        raise QPolicyError(f"{file}: --write needs a config of the dialect {dialect}, and this is none; leave it out")
    text = file.read_bytes().decode("utf-8-sig")
    path = _place(checkpoint)
    for key, value in exported.values.items():
        text = with_value(text, (*path, key), value, str(file))
    return text
