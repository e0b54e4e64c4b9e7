# ruff: noqa: N999 - named as the command, by which alone it is imported
"""``qpolicy import``: turns a native list into a policy."""

from __future__ import annotations

from pathlib import Path

import click

from qpolicy.analysis.importing import Imported, import_config, import_list
from qpolicy.bind.consulted import with_config
from qpolicy.checkpoint import Checkpoint, open_checkpoint, quantization_in
from qpolicy.cli import options
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.output import put
from qpolicy.cli.progress import progress
from qpolicy.cli.terminal import complain
from qpolicy.errors import NothingToCheckError
from qpolicy.lint.reporters.checked import counted

DEFAULT_NAME = "imported.qpolicy"
_SHOWN = 10


@click.command("import")
@click.argument("config", metavar="CONFIG_OR_CKPT")
@click.option("--checkpoint", metavar="CKPT", help="The checkpoint that the config belongs to, to compare with.")
@click.option(
    "--output", metavar="FILE", default="-", show_default=True, help="Where to write; `-` is standard output."
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@options.engine
def command(config: str, checkpoint: str | None, output: str, force: bool, engine: str) -> int:
    """Turn the list of a quantization config into a policy that a person can read.

    CONFIG_OR_CKPT is a checkpoint's folder or a JSON file. With a checkpoint, the policy decides every layer of it as
    the engine reads the list, target and draft, and is written only after each has been compared. Without tensors the
    entries are translated one by one, and the policy says that it was not compared.

    Exit code 1 means that the policy was written, but some entry could not be said.
    """
    with progress(f"importing {config}"):
        imported = _imported(config, checkpoint, engine, output)
    put(imported.text, output, force)
    return _told(imported, config)


def _imported(config: str, checkpoint: str | None, engine: str, output: str) -> Imported:
    name = "<imported>" if output == "-" else output
    if Path(config).is_dir() and checkpoint is None:
        return import_list(open_checkpoint(config), engine=engine, name=name)
    where, quantization = _read(config)
    if checkpoint is None:
        return import_config(quantization, engine=engine, name=name, where=where)
    found = with_config(open_checkpoint(checkpoint), quantization, where)
    return import_list(found, engine=engine, name=name)


def _read(config: str) -> tuple[str, dict[str, object]]:
    """Return a config with the place that it was found in.

    Raises:
        NothingToCheckError: There is none.
    """
    if Path(config).is_dir():
        checkpoint: Checkpoint = open_checkpoint(config)
        found = (checkpoint.quantization_file, checkpoint.quantization)
    else:
        found = quantization_in(Path(config))
    where, quantization = found
    if quantization is None or where is None:
        raise NothingToCheckError(f"{config}: no quantization config here, so there is no list to import")
    return where, dict(quantization)


def _told(imported: Imported, config: str) -> int:
    if imported.checked:
        complain(f"{config}: the policy decides all {counted(imported.checked, 'layer')} as the engine reads the list")
    else:
        complain(f"{config}: not compared with any module, for no tensors are at hand; --checkpoint CKPT names some")
    for text in imported.unsaid[:_SHOWN]:
        complain(f"not said: {text}")
    if len(imported.unsaid) > _SHOWN:
        complain(f"and {len(imported.unsaid) - _SHOWN} entries more")
    return FOUND if imported.unsaid else CLEAN
