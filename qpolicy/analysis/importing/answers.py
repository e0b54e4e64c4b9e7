"""What an engine makes of a checkpoint's list, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qpolicy.bind import Ask, Matcher, askers, asks, decision_of, no_policy
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import NothingToCheckError, QPolicyError
from qpolicy.native import Answer
from qpolicy.native.records import engines_of


@dataclass(frozen=True, slots=True)
class Answered:
    """One layer with the engine's answer.

    Attributes:
        matcher: The target or the draft, bound without a policy.
        ask: The layer.
        answer: What the engine makes of the list.
    """

    matcher: Matcher
    ask: Ask
    answer: Answer

    @property
    def draft(self) -> bool:
        """Whether the layer is the draft's."""
        return self.matcher.binding.world.draft


def engine_answers(checkpoint: Checkpoint, engine: str) -> tuple[Answered, ...]:
    """Ask the list about every layer of the target and of the draft, as the engine would.

    Raises:
        NothingToCheckError: The checkpoint has no list.
        QPolicyError: How the engine reads this list is not known.
    """
    if checkpoint.quantization is None:
        raise NothingToCheckError(f"{checkpoint.path}: no quantization config here, so there is no list")
    matchers = [no_policy().bind(checkpoint, engine=engine, draft=draft) for draft in askers(checkpoint)]
    world = matchers[0].binding.world
    if world.config is not None and world.reading is not None and not world.reading.supported:
        known = engines_of(world.config.dialect)
        other = f"--engine may name {', '.join(known)}; or " if known else ""
        raise QPolicyError(
            f"{checkpoint.path}: {checkpoint.quantization_file}: how {engine} reads a list of quantization method "
            f"'{world.config.method}' is not known; {other}start from the tensors with `qpolicy init`"
        )
    return tuple(answered for matcher in matchers for answered in _of(matcher, asks(matcher)))


def _of(matcher: Matcher, layers: Iterable[Ask]) -> Iterator[Answered]:
    for ask in layers:
        answer = decision_of(matcher, ask).native
        if answer is not None:
            yield Answered(matcher, ask, answer)
