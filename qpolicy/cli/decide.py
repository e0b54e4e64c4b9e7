"""``qpolicy decide``: decides modules by the names that an engine asks."""

from __future__ import annotations

from collections.abc import Iterator

import click

from qpolicy.bind import Decision, decisions_of, layers_of
from qpolicy.bind.explain import verdict
from qpolicy.cli import options
from qpolicy.cli.asking import bound, decision_json, exit_code, meant, opened
from qpolicy.cli.terminal import complain, say, write
from qpolicy.lint.reporters.as_json import document
from qpolicy.lint.reporters.names import listed

_MEMBERS_SHOWN = 8


@click.command("decide")
@options.checkpoint
@click.argument("modules", metavar="MODULE...", nargs=-1, required=True)
@options.draft
@options.policy
@options.engine
@options.packed
@options.kind
@options.output_format("text", "json")
def command(
    checkpoint: str,
    modules: tuple[str, ...],
    draft: bool,
    policy: str | None,
    engine: str,
    packed: options.Families,
    kind: str | None,
    format_: str,
) -> int:
    """Decide modules by the names that an engine asks; stored names will do as well.

    Exits with 1 when a decision is an error or comes with a warning.
    """
    matcher = bound(*opened(checkpoint, policy), engine=engine, draft=draft, packed=packed)
    decisions = tuple(one for module in modules for one in decisions_of(matcher, module, kind))
    drops = all(layer.drops for layer in layers_of(matcher))
    if format_ == "json":
        write(document({"decisions": [decision_json(one) for one in decisions], "drops": drops}))
        for one in decisions:
            if one.outcome == "error":
                complain(f"{one.module}: {one.reason}")
        return exit_code(decisions)
    for decision in decisions:
        say("\n".join([*_lines(decision), *(f"  {text}" for text in meant(matcher, decision))]))
    if drops:
        say("this draft is built without a quantization config")
    return exit_code(decisions)


def _lines(decision: Decision) -> Iterator[str]:
    yield f"{decision.module}: {verdict(decision)}"
    if decision.rule is not None:
        yield f"  rule: {decision.rule.text}"
    if decision.reason:
        yield f"  because {decision.reason}"
    names = [member.name for member in decision.members]
    if names and names != [decision.module]:
        yield f"  stored: {listed(names, _MEMBERS_SHOWN)}"
    for warning in decision.warnings:
        yield f"  warning: {warning}"
