"""``qpolicy rule``: prints what a finding's code means."""

from __future__ import annotations

from collections.abc import Sequence

import click

from qpolicy.cli.terminal import say
from qpolicy.errors import QPolicyError
from qpolicy.lint.catalog import NAMES, code_of, described, every_code
from qpolicy.lint.pages import markdown
from qpolicy.lint.selection import near_code


def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes and names that begin so."""
    return [text for text in (*NAMES, *NAMES.values()) if text.startswith(incomplete)]


@click.command("rule")
@click.argument("codes", metavar="[CODE|NAME]...", nargs=-1, shell_complete=complete)
def command(codes: Sequence[str]) -> int:
    """Print the pages of findings: why each is reported, examples, and how to mend it.

    Without a code, list all of them.
    """
    say("\n".join([_page(text) for text in codes] or [_list()]).rstrip("\n"))
    return 0


def _page(text: str) -> str:
    code = code_of(text)
    if code is None:
        raise QPolicyError(f"there is no finding '{text}'{near_code(text)}")
    return markdown(described(code))


def _list() -> str:
    width = max(map(len, NAMES.values()))
    return "\n".join(
        f"{code.code}  {code.name:{width}}  {code.severity:7}  {code.summary}".rstrip() for code in every_code()
    )
