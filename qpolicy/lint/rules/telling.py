"""How findings speak of other lines, and which of them were told already."""

from __future__ import annotations

from collections.abc import Sequence

from qpolicy.analysis import Analysis, Decider, Proof, Taken
from qpolicy.lang.source import Source
from qpolicy.lang.tree import Drop
from qpolicy.lint.finding import Related

_SHOWN = 6


def what(decider: Decider) -> str:
    """Return what a statement is called."""
    return "drop" if isinstance(decider.statement, Drop) else "rule"


def lines(deciders: Sequence[Decider]) -> str:
    """Return ``line 4`` or ``lines 4, 7 and 9``; of very many, only the first."""
    numbers = [str(line) for line in dict.fromkeys(decider.line for decider in deciders)]
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    if len(numbers) > _SHOWN:
        numbers = [*numbers[:_SHOWN], f"{len(numbers) - _SHOWN} more"]
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def decide(deciders: Sequence[Decider]) -> str:
    """Return ``line 4 decides`` or ``lines 4 and 7 decide``."""
    return f"{lines(deciders)} decide{'s' if len({one.line for one in deciders}) == 1 else ''}"


def related(taken: Sequence[Taken], source: Source) -> tuple[Related, ...]:
    """Return the statements that decide first, each with an example."""
    return tuple(
        Related.at(f"decides first, for instance {one.where.text}", source, one.by.statement.span)
        for one in taken[:_SHOWN]
    )


def first_always(analysis: Analysis) -> Proof | None:
    """Return the first rule that always applies and has more rules behind it; they are told together with it."""
    proofs = analysis.proofs
    return next((proof for proof in proofs if proof.always and rules_after(analysis, proof)), None)


def rules_after(analysis: Analysis, proof: Proof) -> tuple[Decider, ...]:
    """Return the rules behind a statement; ``otherwise`` is none."""
    behind = (one.decider for one in analysis.proofs[proof.decider.index + 1 :])
    return tuple(decider for decider in behind if decider.is_rule)
