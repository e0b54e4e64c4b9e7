"""The stored modules of a checkpoint, sorted by what its list makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qpolicy.analysis.importing.answers import Answered


@dataclass(frozen=True, slots=True)
class Sides:
    """The modules by outcome.

    Attributes:
        plain: Those that every asker leaves unquantized.
        quantized: Those that every asker quantizes.
        tables: Those of the quantized ones that are embeddings, which ``otherwise`` does not reach.
        differing: Those that the target and the draft decide differently, with what the draft makes of them.
        refused: Layers that the engine refuses, by their stored names, with the reason.
    """

    plain: tuple[str, ...]
    quantized: tuple[str, ...]
    tables: tuple[str, ...]
    differing: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, str], ...]

    @property
    def opposite(self) -> tuple[str, ...]:
        """The modules that no rule for plain ones may match."""
        return (*self.quantized, *(name for name, _ in self.differing))


def sort_out(answers: Iterable[Answered]) -> Sides:
    """Sort the modules of all layers."""
    by_module: dict[str, dict[bool, str]] = {}
    kinds: dict[str, str] = {}
    refused: dict[str, str] = {}
    for one in answers:
        if one.answer.outcome == "error":
            refused.setdefault(one.ask.stored, one.answer.why)
            continue
        for module in one.ask.modules:
            by_module.setdefault(module.name, {})[one.draft] = str(one.answer.outcome)
            kinds[module.name] = one.ask.kind
    outcomes = {name: set(found.values()) for name, found in by_module.items()}
    quantized = tuple(name for name, found in outcomes.items() if found == {"quantized"})
    tables = {name for name, kind in kinds.items() if kind == "embedding"}
    return Sides(
        tuple(name for name, found in outcomes.items() if found == {"unquantized"} and name not in tables),
        quantized,
        tuple(name for name in quantized if name in tables),
        tuple((name, by_module[name][True]) for name, found in outcomes.items() if len(found) > 1),
        tuple(refused.items()),
    )
