"""How much of a checkpoint a policy decides, and which of its rules decide nothing there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from qpolicy.bind import BoundRule, Matcher, Member, Policy, askers, asks, decision_of
from qpolicy.bind.rule import COVERED_BY_OTHERWISE
from qpolicy.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Used:
    """A deciding statement and how many modules it decides.

    Attributes:
        rule: The statement.
        modules: How many stored modules it decides.
    """

    rule: BoundRule
    modules: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a policy decides on a checkpoint, target and draft together.

    Attributes:
        used: Every deciding statement in order, with its number of modules; 0 for one that is never used here.
        undecided: The stored linear, MoE and head modules that no statement decides, in the order in which they are
            asked; the checkpoint's list decides them, for the target or for the draft.
        modules: How many such modules there are that an engine asks about, decided or not. Embeddings are not among
            them: no format quantizes them, and ``otherwise`` leaves them out too.
    """

    used: tuple[Used, ...]
    undecided: tuple[str, ...]
    modules: int

    @property
    def unused(self) -> tuple[BoundRule, ...]:
        """The statements that decide nothing here."""
        return tuple(one.rule for one in self.used if not one.modules)

    @property
    def percent(self) -> float:
        """How many of the modules some statement decides, out of a hundred; 100 for none."""
        return 100.0 * (self.modules - len(self.undecided)) / self.modules if self.modules else 100.0


def coverage(policy: Policy, checkpoint: Checkpoint, *, engine: str = "sglang") -> Coverage:
    """Ask every layer of a checkpoint and count what decides it.

    Args:
        policy: The policy.
        checkpoint: The checkpoint.
        engine: Who asks.

    Raises:
        BindError: The policy does not fit the checkpoint.
    """
    matchers = [policy.bind(checkpoint, engine=engine, draft=draft) for draft in askers(checkpoint)]
    decided = [one for matcher in matchers for one in _decided(matcher)]
    uses = Counter(member.rule.place for _, member in decided if member.rule is not None)
    counted = [member for kind, member in decided if kind in COVERED_BY_OTHERWISE]
    return Coverage(
        tuple(Used(rule, uses[rule.place]) for rule in _statements(matchers[0])),
        tuple(dict.fromkeys(member.name for member in counted if member.rule is None)),
        len({member.name for member in counted}),
    )


def _decided(matcher: Matcher) -> Iterator[tuple[str, Member]]:
    for ask in asks(matcher):
        for member in decision_of(matcher, ask).members:
            yield ask.kind, member


def _statements(matcher: Matcher) -> Iterator[BoundRule]:
    binding = matcher.binding
    yield from (drop.rule for drop in binding.drops)
    yield from binding.rules
    if binding.otherwise is not None:
        yield binding.otherwise
