"""What a list has to say: each layer with the outcome that the policy decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qpolicy.analysis.exporting.errors import CannotSayError, listed
from qpolicy.bind import Ask, Decision, Matcher, Policy, World, askers, asks, decision_of, no_policy
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import NothingToCheckError


@dataclass(frozen=True, slots=True)
class Wish:
    """One layer and what is to become of it.

    Attributes:
        ask: The layer.
        decision: What the policy decides.
        draft: Whether it is the draft's.
        outcome: ``unquantized`` or ``quantized``.
    """

    ask: Ask
    decision: Decision
    draft: bool
    outcome: str

    @property
    def called(self) -> str:
        """The layer for a message."""
        stored = "" if self.ask.name == self.ask.stored else f" (asked as {self.ask.name})"
        return f"{self.ask.stored}{stored}"


def wishes(checkpoint: Checkpoint, policy: Policy | None, engine: str) -> tuple[Wish, ...]:
    """Decide every layer of the target and of the draft.

    Raises:
        NothingToCheckError: No layer is stored.
        CannotSayError: The policy refuses a layer, or what it comes to is not known.
    """
    bound = policy or no_policy()
    matchers = [bound.bind(checkpoint, engine=engine, draft=draft) for draft in askers(checkpoint)]
    found = tuple(wish for matcher in matchers for wish in _of(matcher))
    if not found:
        raise NothingToCheckError(f"{checkpoint.path}: nothing to export: no safetensors file here holds a layer")
    refused = [wish for wish in found if wish.outcome not in ("unquantized", "quantized")]
    if refused:
        why = refused[0].decision.reason or "what becomes of it is not known"
        raise CannotSayError(f"no list can say an error: {listed(wish.called for wish in refused)}: {why}")
    return found


def _of(matcher: Matcher) -> Iterator[Wish]:
    for ask in asks(matcher):
        decision = decision_of(matcher, ask)
        yield Wish(ask, decision, matcher.binding.world.draft, str(decision.outcome))


def worlds(checkpoint: Checkpoint, engine: str) -> dict[bool, World]:
    """Return who asks: the target and, where there is one, the draft."""
    return {draft: World(checkpoint, engine, draft) for draft in askers(checkpoint)}
