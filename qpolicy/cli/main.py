"""The ``qpolicy`` command: finds the subcommand and imports nothing else."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from qpolicy import __version__
from qpolicy.cli.failure import guarded

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
    "sglang": "Rehearse how the installed SGLang loads a checkpoint.",
    "completion": "Make a shell complete these commands.",
}
"""Each command with its line in the list; its module in this package has the same name and holds ``command``."""


class Commands(click.Group):
    """A group whose commands are imported by name, only the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which help lists them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return the command; None when there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"qpolicy.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command to run, or say which known one is nearest.

        Raises:
            UsageError: There is no such command.
        """
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"the commands are {', '.join(COMMANDS)}"
            ctx.fail(f"there is no command '{name}'; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it returns is the exit code, and every failure becomes a message and a code."""
        ctx.exit(guarded(lambda: super(Commands, self).invoke(ctx)))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="qpolicy", message="%(prog)s %(version)s")
def main() -> None:
    """Decide which layers of a quantized checkpoint stay unquantized, and check that it will load.

    Exit codes: 0 clean, 1 errors or warnings found, 2 wrong use or broken input, 3 nothing to check.
    """
