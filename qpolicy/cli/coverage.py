"""``qpolicy coverage``: how much of a checkpoint a policy decides."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from textwrap import wrap

import click

from qpolicy.analysis import Coverage, coverage
from qpolicy.cli import options
from qpolicy.cli.asking import opened, rule_json
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.terminal import say, width, write
from qpolicy.errors import NothingToCheckError, QPolicyError
from qpolicy.lint.reporters.as_json import document
from qpolicy.lint.reporters.checked import counted
from qpolicy.lint.reporters.names import listed

_SHOWN = 20


@click.command("coverage")
@options.checkpoint
@options.policy
@options.engine
@click.option(
    "--fail-under", metavar="N", type=click.FloatRange(0, 100), help="Exit with 1 below so many percent of the modules."
)
@options.output_format("text", "json")
def command(checkpoint: str, policy: str | None, engine: str, fail_under: float | None, format_: str) -> int:
    """Say how much of a checkpoint a policy decides: the rules that are never used, the modules that no rule decides.

    Target and draft are counted together. A module that no rule decides is left to the checkpoint's own list.
    """
    found, chosen = opened(checkpoint, policy)
    if chosen is None:
        raise QPolicyError(f"{checkpoint}: no policy lies here; name one with --policy")
    result = coverage(chosen, found, engine=engine)
    if not result.modules:
        raise NothingToCheckError(f"{checkpoint}: nothing to cover: no safetensors file here holds a layer")
    write(_json(result)) if format_ == "json" else say("\n".join(_lines(result)))
    return FOUND if fail_under is not None and result.percent < fail_under else CLEAN


def _json(result: Coverage) -> str:
    return document(
        {
            "percent": result.percent,
            "modules": result.modules,
            "decided": result.modules - len(result.undecided),
            "undecided": list(result.undecided),
            "rules": [{**(rule_json(one.rule) or {}), "modules": one.modules} for one in result.used],
        }
    )


def _lines(result: Coverage) -> Iterator[str]:
    for rule in result.unused:
        yield f"never used: {rule.place}: {rule.text}"
    if result.undecided:
        left = counted(len(result.undecided), "module")
        told = f"no rule decides {left}: {listed(result.undecided, _SHOWN)}"
        yield from wrap(told, width(), subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    # Rounded down, so that a hundred is only said where it is.
    percent = floor(result.percent * 10) / 10
    decided = result.modules - len(result.undecided)
    used = f"{len(result.used) - len(result.unused)} of {counted(len(result.used), 'rule')} used"
    yield f"{percent}% covered: rules decide {decided} of {counted(result.modules, 'module')}; {used}"
