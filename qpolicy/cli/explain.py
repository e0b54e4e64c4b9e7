"""``qpolicy explain``: says why one module is decided as it is."""

from __future__ import annotations

import click

from qpolicy.bind import decisions_of
from qpolicy.cli import options
from qpolicy.cli.asking import bound, exit_code, meant, opened
from qpolicy.cli.terminal import say


@click.command("explain")
@options.checkpoint
@click.argument("module", metavar="MODULE")
@options.draft
@options.policy
@options.engine
@options.packed
@options.kind
def command(
    checkpoint: str,
    module: str,
    draft: bool,
    policy: str | None,
    engine: str,
    packed: options.Families,
    kind: str | None,
) -> int:
    """Say why one module is decided as it is: every rule that was tried, the truth of each clause, the nearest miss.

    Exits with 1 when the decision is an error or comes with a warning.
    """
    matcher = bound(*opened(checkpoint, policy), engine=engine, draft=draft, packed=packed)
    decisions = decisions_of(matcher, module, kind)
    say("\n\n".join("\n".join([one.explain(), *(f"  {text}" for text in meant(matcher, one))]) for one in decisions))
    return exit_code(decisions)
