"""A group of commands of which only the one that runs is imported."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose help comes from a table and whose commands are imported by name."""

    def __init__(self, *args: Any, table: Mapping[str, str], home: str, **options: Any) -> None:
        """Make a group.

        Args:
            *args: What :class:`click.Group` takes.
            table: Each command with its line in the list, in the order of the list.
            home: The start of the modules' names: the module of a command is ``home`` with the command's name after
                it, and it holds ``command``.
            **options: What :class:`click.Group` takes.
        """
        super().__init__(*args, **options)
        self.table = table
        self.home = home

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which help lists them."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return the command; None when there is no such command."""
        if cmd_name not in self.table:
            return None
        command = import_module(f"{self.home}{cmd_name}").command
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
        if name not in self.table and not name.startswith("-"):
            near = get_close_matches(name, self.table, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"the commands are {', '.join(self.table)}"
            ctx.fail(f"there is no command '{name}'; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))
