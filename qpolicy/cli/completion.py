"""``qpolicy completion``: prints what makes a shell complete qpolicy's commands."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from qpolicy.cli.terminal import say

PROGRAM, VARIABLE = "qpolicy", "_QPOLICY_COMPLETE"

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    r"""Print a script that makes SHELL complete commands, options, files and codes.

    \b
    bash:  qpolicy completion bash > ~/.local/share/bash-completion/completions/qpolicy
    zsh:   qpolicy completion zsh > a file _qpolicy in a folder of $fpath
    fish:  qpolicy completion fish > ~/.config/fish/completions/qpolicy.fish
    """
    complete = _SHELLS[shell](context.find_root().command, {}, PROGRAM, VARIABLE)
    # The bash class would run bash to look at its version first; a script must not depend on what runs here.
    say((complete.source_template % complete.source_vars()).strip("\n"))
    return 0
