"""``qpolicy sglang``: what needs an installed SGLang."""

from __future__ import annotations

from types import MappingProxyType

import click

from qpolicy.cli.group import LazyGroup

COMMANDS = MappingProxyType(
    {
        "doctor": "Is the plugin found, is each hook attached, does a layer get its answer?",
        "rehearse": "Build the real model without weights, and say what would not load.",
    }
)
"""Each command with its line in the list; its module is ``qpolicy.cli.sglang_NAME`` and holds ``command``."""


@click.group("sglang", cls=LazyGroup, table=COMMANDS, home="qpolicy.cli.sglang_")
def command() -> None:
    """Look into the installed SGLang: examine the plugin, and rehearse how it would build and load a checkpoint."""
