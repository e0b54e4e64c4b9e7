"""``qpolicy sglang``: what needs an installed SGLang."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

import click

COMMANDS = MappingProxyType(
    {
        "rehearse": "Build the real model without weights, and say what would not load.",
    }
)
"""Each command with its line in the list; its module is ``qpolicy.cli.sglang_NAME`` and holds ``command``."""


class Commands(click.Group):
    """A group whose commands are imported when they run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which help lists them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return the command; None when there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"qpolicy.cli.sglang_{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group("sglang", cls=Commands)
def command() -> None:
    """Look into the installed SGLang: rehearse how it would build and load a checkpoint."""
