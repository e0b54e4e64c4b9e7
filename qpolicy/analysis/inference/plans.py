"""The ways to say what a checkpoint shows, the best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from qpolicy.analysis.inference.evidence import Evidence, State, decided
from qpolicy.analysis.inference.plan import Plan, PlannedRule, name_plain, name_quantized
from qpolicy.analysis.inference.refused import Refused
from qpolicy.analysis.inference.shapes import literal, spelled
from qpolicy.bind import World, parse
from qpolicy.checkpoint import Checkpoint

FEW = 3
"""So many patterns may name what is plain, even if what is quantized could be named by one."""

DROP = "drop mtp if unquantized_on_disk(@mtp)"


@dataclass(frozen=True)
class Planner:
    """Makes the plans for one checkpoint.

    Attributes:
        checkpoint: The checkpoint.
        evidence: Each module's state.
        engine: The engine that would load it.
        listed: Whether the evidence is the checkpoint's list.
    """

    checkpoint: Checkpoint
    evidence: Evidence
    engine: str
    listed: bool = False

    def plans(self) -> Iterator[Plan]:
        """Yield the plans, the best first.

        With one scheme all that is quantized is quantized alike. Then the plain modules are named and the rest is
        quantized; or the reverse, where one pattern is all that is quantized (the experts, as a rule) and to name what
        is plain takes more than :data:`FEW`. Nothing depends on the list then. With several schemes only the list knows
        which module has which, so the rest is left to it.
        """
        config = World(self.checkpoint, self.engine, False).config
        if config is None or len(config.schemes) <= 1:
            direct, inverse = self._direct(), self._inverse()
            reverse = inverse.length == 0 or (inverse.length == 1 and direct.length > FEW)
            yield from (inverse, direct) if reverse else (direct, inverse)
        yield self._over_list()

    def _direct(self) -> Plan:
        tables = self._lost_tables
        return Plan((*self._plain, *self._quantized(tables)), "quantized", self.drop)

    def _inverse(self) -> Plan:
        tables = self._lost_tables
        quantized = self._quantized((*self.evidence.having("quantized"), *tables))
        plain = name_plain(self.checkpoint, self._in("unquantized", tables), self._refused("quantized"))
        return Plan((*quantized, *plain), "unquantized", self.drop)

    def _over_list(self) -> Plan:
        return Plan((*self._plain, *self._quantized(self._lost)), "native", self.drop)

    @cached_property
    def drop(self) -> str | None:
        """The drop that is needed where the engine by itself leaves a draft unquantized that is quantized on disk."""
        if self.listed or World(self.checkpoint, self.engine, True).nulled is None:
            return None
        return DROP if any(map(self.checkpoint.is_draft_name, self._in("quantized"))) else None

    @cached_property
    def _plain(self) -> tuple[PlannedRule, ...]:
        plain = (*self.evidence.having("unquantized"), *self._in("unquantized", self._lost_tables))
        return (*self._tied_head(), *name_plain(self.checkpoint, plain, self._refused("quantized")))

    def _quantized(self, names: Iterable[str]) -> tuple[PlannedRule, ...]:
        return name_quantized(self._in("quantized", names), self._refused("unquantized"))

    def _refused(self, state: State) -> Refused:
        return self._sides[state]

    @cached_property
    def _sides(self) -> dict[State, Refused]:
        states: tuple[State, ...] = ("unquantized", "quantized")
        return {state: Refused(self._in(state)) for state in states}

    def _tied_head(self) -> Iterator[PlannedRule]:
        """Yield the rule for a head that is the embedding: some engines build it as a layer of its own."""
        head = self.checkpoint.find("lm_head")
        if head is None or head.name in self.checkpoint.modules or head.quantized is not False:
            return
        tables = (module.name for module in self.checkpoint.modules.values() if module.tensors is head.tensors)
        yield PlannedRule((spelled(literal(next(tables))), "**.lm_head"), "unquantized")

    def _in(self, state: State, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return those of these modules, by default of all, that are in a state."""
        among = self.evidence.states if names is None else names
        return tuple(name for name in among if self.evidence.states.get(name) == state)

    @cached_property
    def _lost_tables(self) -> tuple[str, ...]:
        return self._lost_of("embedding") if self.evidence.tables else ()

    @property
    def _lost(self) -> tuple[str, ...]:
        return self._lost_of("linear", "moe", "lm_head", "embedding")

    def _lost_of(self, *kinds: str) -> tuple[str, ...]:
        """Return the modules that the list, or the engine without one, gets wrong."""
        alone = parse(f"qpolicy 1\n{self.drop or ''}\n")
        found = (
            module.name
            for _, ask, decision in decided(alone, self.checkpoint, self.engine, kinds)
            for module in ask.modules
            if decision.outcome != self.evidence.states.get(module.name, decision.outcome)
        )
        return tuple(dict.fromkeys(found))
