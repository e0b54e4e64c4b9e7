"""What a policy has to say: the state of each stored module, by its tensors or by the checkpoint's list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from qpolicy.bind import Ask, Decision, Matcher, Policy, askers, asks, decision_of, no_policy
from qpolicy.bind.unasked import built_unasked
from qpolicy.checkpoint import Checkpoint, StoredModule
from qpolicy.errors import NothingToCheckError, QPolicyError

State: TypeAlias = Literal["unquantized", "quantized"]

KINDS = ("linear", "moe", "lm_head", "embedding")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The modules of a checkpoint with the state that a policy has to give them.

    Attributes:
        states: Each module that an engine asks about with its state, in file order; without those whose state is not
            known.
        tables: Those of them that are embeddings; ``otherwise`` does not reach them.
        unknown: How many modules an engine asks about whose state is not known.
    """

    states: dict[str, State]
    tables: frozenset[str]
    unknown: int

    def having(self, state: State) -> tuple[str, ...]:
        """Return the modules in this state, embeddings aside."""
        return tuple(name for name, known in self.states.items() if known == state and name not in self.tables)

    def count(self, state: State) -> int:
        """Return how many modules are in this state, embeddings aside."""
        return len(self.having(state))


def decided(
    policy: Policy, checkpoint: Checkpoint, engine: str, kinds: Collection[str] = KINDS
) -> Iterator[tuple[Matcher, Ask, Decision]]:
    """Yield every layer of these kinds that the engine asks about, for target and draft, with the policy's decision."""
    for draft in askers(checkpoint):
        matcher = policy.bind(checkpoint, engine=engine, draft=draft)
        for ask in asks(matcher):
            if ask.kind not in kinds:
                continue
            yield matcher, ask, decision_of(matcher, ask)


def from_tensors(checkpoint: Checkpoint) -> Evidence:
    """Return what the tensors say.

    Raises:
        NothingToCheckError: No module is stored, or of none the tensors tell.
    """
    asked = [module for module in checkpoint.modules.values() if module.kind is not None]
    states = {module.name: _state(module.quantized) for module in asked if module.quantized is not None}
    if not states:
        why = "no safetensors file here holds a layer" if not asked else "no header tells which modules are quantized"
        raise NothingToCheckError(f"{checkpoint.path}: nothing to learn from: {why}")
    return Evidence(states, _tables(asked), len(asked) - len(states))


def from_list(checkpoint: Checkpoint, engine: str) -> Evidence:
    """Return what the engine makes of the checkpoint's list, module by module.

    Raises:
        NothingToCheckError: The checkpoint has no list, or no module is stored.
        QPolicyError: The list is in a dialect that cannot be read.
    """
    if checkpoint.quantization is None:
        raise NothingToCheckError(f"{checkpoint.path}: no quantization config here, so there is no list to start from")
    states: dict[str, State] = {}
    asked: dict[str, StoredModule] = {}
    for matcher, ask, decision in decided(no_policy(), checkpoint, engine):
        asked |= {module.name: module for module in ask.modules}
        if decision.outcome in ("unquantized", "quantized"):
            answer = _state(decision.outcome == "quantized" and not _left_alone(matcher, ask))
            states = {module.name: answer for module in ask.modules} | states  # the target's answer for a shared head
    if not asked:
        raise NothingToCheckError(f"{checkpoint.path}: no safetensors file here holds a layer to ask the list about")
    if not states:
        where = checkpoint.quantization_file
        raise QPolicyError(
            f"{checkpoint.path}: {where}: this list cannot be read as {engine} does; leave --from-list out"
        )
    return Evidence(states, _tables(asked.values()), len(asked) - len(states))


def _left_alone(matcher: Matcher, ask: Ask) -> bool:
    """Whether the list has no say in a layer: it is built without asking, or may be and is stored plain."""
    unasked = built_unasked(matcher.binding.world, ask.stored)
    return unasked or (unasked is None and not any(module.quantized for module in ask.modules))


def _state(quantized: bool) -> State:
    return "quantized" if quantized else "unquantized"


def _tables(modules: Iterable[StoredModule]) -> frozenset[str]:
    return frozenset(module.name for module in modules if module.kind == "embedding")
