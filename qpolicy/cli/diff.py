"""``qpolicy diff``: do two policies ever decide differently?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from qpolicy.analysis import Change, Comparison, Decider, Difference, compare
from qpolicy.bind import BoundRule, Decision, Policy, load
from qpolicy.bind.files import policy_path
from qpolicy.checkpoint import open_checkpoint
from qpolicy.cli import options
from qpolicy.cli.asking import rule_json
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.progress import progress
from qpolicy.cli.terminal import say, write
from qpolicy.lint.reporters.as_json import document
from qpolicy.lint.reporters.checked import counted
from qpolicy.lint.reporters.names import listed

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Pair:
    """The two policies that are compared.

    Attributes:
        first: One.
        second: The other.
    """

    first: Policy
    second: Policy


@click.command("diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.argument("checkpoint", metavar="[CKPT]", required=False)
@options.engine
@options.output_format("text", "json")
def command(first: str, second: str, checkpoint: str | None, engine: str, format_: str) -> int:
    """Prove that two policies decide alike, or name the shortest module on which they do not.

    With CKPT, every layer of it is listed of which B changes the outcome. A and B may be builtin:NAME for a policy
    shipped with qpolicy.

    Exits with 0 when the policies are equivalent, and with 1 when they are not or when that is undecided, whether or
    not anything changes on CKPT.
    """
    pair = Pair(load(policy_path(first)), load(policy_path(second)))
    with progress(f"comparing {first} and {second}"):
        found = None if checkpoint is None else open_checkpoint(checkpoint)
        comparison = compare(pair.first, pair.second, found, engine=engine)
    if format_ == "json":
        write(_json(pair, comparison, checkpoint))
    else:
        say("\n".join(_lines(pair, comparison, checkpoint)))
    return CLEAN if comparison.equivalent else FOUND


def _json(pair: Pair, comparison: Comparison, checkpoint: str | None) -> str:
    difference = comparison.difference
    changes = [
        {"module": one.name, "draft": one.draft, "before": _outcome_json(one.before), "after": _outcome_json(one.after)}
        for one in comparison.changes
    ]
    return document(
        {
            "equivalent": comparison.equivalent,
            "difference": None if difference is None else _difference_json(pair, difference),
            "changes": None if checkpoint is None else changes,
        }
    )


def _difference_json(pair: Pair, difference: Difference) -> dict[str, object]:
    return {
        "module": difference.where.name,
        "fused": list(difference.where.also),
        "facts": list(difference.where.facts),
        "first": rule_json(_bound(pair.first, difference.first)),
        "second": rule_json(_bound(pair.second, difference.second)),
    }


def _outcome_json(decision: Decision) -> dict[str, object]:
    return {"outcome": decision.outcome, "scheme": decision.scheme, "rule": rule_json(decision.rule)}


def _lines(pair: Pair, comparison: Comparison, checkpoint: str | None) -> Iterator[str]:
    names = f"{pair.first.source.name} and {pair.second.source.name}"
    if comparison.difference is not None:
        yield f"different: {names} decide the module {comparison.difference.where.text} differently"
        yield f"  {_told(pair.first, comparison.difference.first)}"
        yield f"  {_told(pair.second, comparison.difference.second)}"
    elif comparison.equivalent:
        yield f"equivalent: {names} decide every module alike"
    else:
        yield f"undecided: whether {names} are equivalent takes more than {comparison.budget} to tell"
    if checkpoint is not None:
        yield from _change_lines(comparison.changes, checkpoint)


def _change_lines(changes: Sequence[Change], checkpoint: str) -> Iterator[str]:
    if not changes:
        yield f"no layer of {checkpoint} changes"
        return
    yield f"{counted(len(changes), 'layer')} of {checkpoint} change{'s' if len(changes) == 1 else ''}:"
    groups: dict[tuple[bool, str, str], list[str]] = {}
    for one in changes:
        groups.setdefault((one.draft, _by(one.before), _by(one.after)), []).append(one.name)
    for (draft, before, after), names in groups.items():
        yield f"  {'draft' if draft else 'target'}: {before} becomes {after}: {listed(names, _SHOWN)}"


def _by(decision: Decision) -> str:
    scheme = f" as {decision.scheme}" if decision.scheme else ""
    by = "the list" if decision.rule is None else decision.rule.place
    return f"{decision.outcome or 'unknown'}{scheme} ({by})"


def _told(policy: Policy, decider: Decider | None) -> str:
    rule = _bound(policy, decider)
    return f"{policy.source.name}: no rule decides, so the list does (native)" if rule is None else str(rule)


def _bound(policy: Policy, decider: Decider | None) -> BoundRule | None:
    return None if decider is None else BoundRule(decider.index, decider.statement, None, policy.source)
