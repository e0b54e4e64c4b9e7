"""``qpolicy test``: runs the ``expect`` lines of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from qpolicy.bind import Expectation, Policy, run_expectations
from qpolicy.cli import options
from qpolicy.cli.asking import families, opened
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.terminal import say
from qpolicy.errors import NothingToCheckError, QPolicyError
from qpolicy.lint.reporters.checked import counted


@click.command("test")
@options.checkpoint
@options.policy
@options.engine
@options.packed
def command(checkpoint: str, policy: str | None, engine: str, packed: options.Families) -> int:
    """Run the `expect` lines of a policy against a checkpoint, and say why each failing one fails."""
    found, chosen = opened(checkpoint, policy)
    if chosen is None:
        raise QPolicyError(f"{checkpoint}: no policy lies here; name one with --policy")
    results = run_expectations(chosen, found, engine=engine, packed=families(packed))
    if not results:
        such = "such as `expect lm_head: unquantized`"
        raise NothingToCheckError(f"{chosen.source.name}: nothing to test: this policy has no `expect` line, {such}")
    failed = [result for result in results if not result.met]
    for result in failed:
        say("\n".join(_failure(chosen, result)))
    say(_summary(results, failed))
    return FOUND if failed else CLEAN


def _failure(policy: Policy, result: Expectation) -> Iterator[str]:
    span = result.expect.span
    yield f"{policy.source.name}:{span.line}:{span.column}: {result.text}"
    decision = result.decision
    if decision is None:
        yield "  fails: it selects no module of this checkpoint"
        return
    who = "draft" if result.draft else "target"
    yield f"  fails for {decision.module} ({who}): it is {decision.outcome or 'unknown'}"
    yield from (f"    {line}" for line in decision.explain().split("\n"))


def _summary(results: Sequence[Expectation], failed: Sequence[Expectation]) -> str:
    lines = {result.expect.span for result in results}
    broken = {result.expect.span for result in failed}
    asked = counted(sum(result.decision is not None for result in results), "module")
    if broken:
        return f"{len(broken)} of {counted(len(lines), 'expectation')} failed; {asked} asked"
    return f"{counted(len(lines), 'expectation')} met; {asked} asked"
