"""The ``qpolicy`` command: finds the subcommand and imports nothing else."""

from __future__ import annotations

from typing import Any

import click

from qpolicy import __version__
from qpolicy.cli.failure import guarded
from qpolicy.cli.group import LazyGroup

COMMANDS: dict[str, str] = {
    "check": "Will these checkpoints load, each module built as it is stored?",
    "lint": "Look at policy files alone, without a checkpoint.",
    "decide": "Decide modules by the names that an engine asks.",
    "explain": "Say why one module is decided as it is.",
    "table": "List every layer with its decision and its tensors.",
    "init": "Write the shortest policy that agrees with a checkpoint's tensors.",
    "import": "Turn the list of a quantization config into a policy.",
    "export": "Write what a policy decides as the list of another dialect.",
    "test": "Run the `expect` lines of a policy.",
    "diff": "Prove that two policies decide alike, or say where they differ.",
    "coverage": "Say how much of a checkpoint a policy decides.",
    "fmt": "Format policy files.",
    "rule": "Print the page of a finding.",
    "sglang": "Examine the plugin in SGLang, and rehearse a load without a GPU.",
    "completion": "Make a shell complete these commands.",
}
"""Each command with its line in the list; its module in this package has the same name and holds ``command``."""


class Commands(LazyGroup):
    """The whole command line: every failure ends here."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it returns is the exit code, and every failure becomes a message and a code."""
        ctx.exit(guarded(lambda: super(Commands, self).invoke(ctx)))


@click.group(
    cls=Commands,
    table=COMMANDS,
    home="qpolicy.cli.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="qpolicy", message="%(prog)s %(version)s")
def main() -> None:
    """Decide which layers of a quantized checkpoint stay unquantized, and check that it will load.

    Exit codes: 0 clean, 1 errors or warnings found, 2 wrong use or broken input, 3 nothing to check.
    """
