"""Compares an imported policy with the list, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable

from qpolicy.analysis.importing.answers import Answered
from qpolicy.bind import Policy, decision_of
from qpolicy.checkpoint import Checkpoint


def missed(
    policy: Policy, checkpoint: Checkpoint, engine: str, answers: Iterable[Answered]
) -> tuple[tuple[str, bool, str], ...]:
    """Return the layers that a policy decides otherwise than the list.

    Args:
        policy: The policy.
        checkpoint: The checkpoint.
        engine: The engine.
        answers: What the engine makes of the list.

    Returns:
        The layers' stored names, whether the draft asks, and what the engine makes of them.
    """
    found = []
    matchers = {draft: policy.bind(checkpoint, engine=engine, draft=draft) for draft in (False, True)}
    for one in answers:
        decision = decision_of(matchers[one.draft], one.ask)
        schemes = {member.scheme for member in decision.members if member.outcome == "quantized"}
        differs = decision.outcome != one.answer.outcome or (
            one.answer.outcome == "quantized" and schemes != {one.answer.scheme}
        )
        if differs:
            found.append((one.ask.stored, one.draft, str(one.answer.outcome)))
    return tuple(found)
