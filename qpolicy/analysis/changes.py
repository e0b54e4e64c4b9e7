"""What another policy changes on one checkpoint, module by module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qpolicy.bind import Decision, Policy, askers, asks, decision_of
from qpolicy.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Change:
    """A layer that two policies decide differently.

    Attributes:
        name: The engine's name.
        draft: Whether the draft asks for it.
        before: The decision under the first policy.
        after: The decision under the second.
    """

    name: str
    draft: bool
    before: Decision
    after: Decision


def changes(first: Policy, second: Policy, checkpoint: Checkpoint, *, engine: str = "sglang") -> tuple[Change, ...]:
    """Return every layer of a checkpoint, target and draft, of which outcome or scheme differ.

    Args:
        first: The policy before.
        second: The policy after.
        checkpoint: The checkpoint.
        engine: Who asks.

    Raises:
        BindError: A policy does not fit the checkpoint.
    """
    return tuple(
        change for draft in askers(checkpoint) for change in _changes(first, second, checkpoint, engine, draft)
    )


def _changes(first: Policy, second: Policy, checkpoint: Checkpoint, engine: str, draft: bool) -> Iterator[Change]:
    before, after = (policy.bind(checkpoint, engine=engine, draft=draft) for policy in (first, second))
    for ask in asks(before):
        was, becomes = (decision_of(matcher, ask) for matcher in (before, after))
        if _meaning(was, before.drops) != _meaning(becomes, after.drops):
            yield Change(ask.name, draft, was, becomes)


def _meaning(decision: Decision, dropped: bool) -> tuple[object, ...]:
    return decision.outcome, decision.scheme, tuple(member.scheme for member in decision.members), dropped
