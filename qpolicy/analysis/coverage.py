"""How much of a checkpoint a policy decides, and which of its rules decide nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qpolicy.bind import BoundRule, Matcher, Policy, askers, asks
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
        undecided: The stored modules that no statement decides, in the order in which they are asked; the
            checkpoint's list decides them.
        modules: How many stored modules there are that an engine asks about.
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
    decided = [pair for matcher in matchers for pair in _decided(matcher)]
    places = [None if rule is None else rule.place for _, rule in decided]
    statements = _statements(matchers[0])
    return Coverage(
        tuple(Used(rule, places.count(rule.place)) for rule in statements),
        tuple(name for name, rule in decided if rule is None),
        len(decided),
    )


def _decided(matcher: Matcher) -> Iterator[tuple[str, BoundRule | None]]:
    for ask in asks(matcher):
        for member in matcher.decide(ask.name, kind=ask.kind).members:
            yield member.name, member.rule


def _statements(matcher: Matcher) -> Iterator[BoundRule]:
    binding = matcher.binding
    yield from (drop.rule for drop in binding.drops)
    yield from binding.rules
    if binding.otherwise is not None:
        yield binding.otherwise
