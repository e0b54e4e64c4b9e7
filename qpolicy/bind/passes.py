"""The passes that make a matcher out of a policy's text, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from qpolicy.bind.facts import WorldFacts
from qpolicy.bind.kleene import Truth, evaluate
from qpolicy.bind.resolve import Sets
from qpolicy.bind.rule import BoundRule
from qpolicy.bind.world import World
from qpolicy.errors import BindError
from qpolicy.lang.source import Source
from qpolicy.lang.tree import Document, Drop, Otherwise, Rule
from qpolicy.paths import Pattern, PatternIndex


@dataclass(frozen=True, slots=True)
class SettledDrop:
    """A drop statement with the truth of its condition."""

    rule: BoundRule
    truth: Truth


@dataclass(frozen=True)
class Binding:
    """What binding has worked out so far; each pass fills one part of it.

    Attributes:
        document: The policy's syntax tree.
        source: The policy's text.
        world: The checkpoint and the asker.
        sets: The policy's named sets, as they stand for this checkpoint.
        facts: The facts about the checkpoint as a whole.
        rules: The rules in order, without ``otherwise``.
        otherwise: The ``otherwise`` statement, if there is one.
        drops: The drop statements, settled.
        index: Finds the rules whose patterns match a name.
    """

    document: Document
    source: Source
    world: World
    sets: Sets
    facts: WorldFacts
    rules: tuple[BoundRule, ...] = ()
    otherwise: BoundRule | None = None
    drops: tuple[SettledDrop, ...] = ()
    index: PatternIndex = field(default_factory=lambda: PatternIndex([]))

    @classmethod
    def start(cls, document: Document, source: Source, world: World) -> Binding:
        """Return the state before the first pass."""
        sets = Sets.of(document, world.checkpoint)
        return cls(document, source, world, sets, WorldFacts(world, sets.expand))


BindPass: TypeAlias = Callable[[Binding], Binding]


def expand_rules(binding: Binding) -> Binding:
    """Give every deciding statement its patterns."""
    rules: list[BoundRule] = []
    for statement in binding.document.statements:
        if isinstance(statement, Rule | Otherwise):
            rules.append(BoundRule(len(rules), statement, _patterns(binding, statement), binding.source))
    last = rules[-1] if rules and isinstance(rules[-1].node, Otherwise) else None
    return replace(binding, rules=tuple(rules[:-1] if last else rules), otherwise=last)


def check_schemes(binding: Binding) -> Binding:
    """Refuse ``quantized as NAME`` where the checkpoint has no scheme of that name."""
    config = binding.world.config
    for rule in (*binding.rules, *([binding.otherwise] if binding.otherwise else [])):
        scheme = rule.decision.scheme
        if scheme is None or config is None or scheme in config.schemes:
            continue
        known = ", ".join(config.schemes) or f"none, {config.dialect} has no named schemes"
        raise BindError(f"{rule.place}: the checkpoint has no scheme '{scheme}'; it has: {known}")
    return binding


def index_rules(binding: Binding) -> Binding:
    """Build the automaton that finds the rules whose patterns match a name."""
    return replace(binding, index=PatternIndex([rule.patterns or () for rule in binding.rules]))


def settle_drops(binding: Binding) -> Binding:
    """Decide every drop; its condition speaks of the checkpoint as a whole."""
    drops = [statement for statement in binding.document.statements if isinstance(statement, Drop)]
    settled = (
        SettledDrop(
            BoundRule(position, drop, binding.sets.expand(drop.scope), binding.source),
            evaluate(drop.condition, binding.facts.ask),
        )
        for position, drop in enumerate(drops)
    )
    return replace(binding, drops=tuple(settled))


PASSES: tuple[BindPass, ...] = (expand_rules, check_schemes, index_rules, settle_drops)


def bind_all(binding: Binding) -> Binding:
    """Run every pass."""
    for step in PASSES:
        binding = step(binding)
    return binding


def _patterns(binding: Binding, statement: Rule | Otherwise) -> tuple[Pattern, ...] | None:
    if isinstance(statement, Otherwise) or not statement.selectors:
        return None
    return tuple(pattern for selector in statement.selectors for pattern in binding.sets.expand(selector))
