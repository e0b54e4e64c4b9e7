"""Asks the finished policy about every module, as an engine would, and compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qpolicy.analysis.inference.evidence import Evidence, decided
from qpolicy.bind import Ask, Decision, Policy
from qpolicy.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a policy's decisions compare with the evidence.

    Attributes:
        wrong: Modules that would silently be built otherwise than the evidence says.
        unmet: Sentences about layers that would be refused: no policy can build them as they are.
    """

    wrong: tuple[str, ...]
    unmet: tuple[str, ...]


def verify(policy: Policy, checkpoint: Checkpoint, evidence: Evidence, engine: str) -> Verdict:
    """Decide every layer of the target and of the draft, and compare each member with its state."""
    wrong: dict[str, None] = {}
    unmet: dict[str, None] = {}
    for matcher, ask, decision in decided(policy, checkpoint, engine):
        wrong |= dict.fromkeys(_wrong(decision, evidence))
        who = "draft" if matcher.binding.world.draft else "target"
        unmet |= dict.fromkeys(_unmet(who, ask, decision))
    return Verdict(tuple(wrong), tuple(unmet))


def _wrong(decision: Decision, evidence: Evidence) -> Iterator[str]:
    for member in decision.members:
        state = evidence.states.get(member.name)
        if state is not None and member.outcome in ("unquantized", "quantized") and member.outcome != state:
            yield member.name


def _unmet(who: str, ask: Ask, decision: Decision) -> Iterator[str]:
    if decision.outcome not in ("unquantized", "quantized"):
        yield f"{who} layer {ask.stored}: {decision.reason or 'the list cannot be read'}"
