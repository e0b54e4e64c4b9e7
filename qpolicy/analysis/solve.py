"""Is there a situation in which some formulas are as wanted? A search that fixes one variable after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.analysis.formulas import NO, NOT_TRUE, TRUE, YES, Formula, open_variable, possible, size
from qpolicy.analysis.limits import Meter
from qpolicy.analysis.variables import Value, Variable

Assumed: TypeAlias = dict[Variable, Value]
"""Some variables with their values; whatever values the others have, what was asked for holds."""


@dataclass(frozen=True, slots=True)
class Want:
    """A formula and the truths that it may have."""

    formula: Formula
    truths: int

    @property
    def hopeless(self) -> bool:
        """Whether it is plain at once that the formula never is as wanted."""
        return self.formula == (NO if self.truths == TRUE else YES)


def holds(formula: Formula) -> Want:
    """Want a formula to be true."""
    return Want(formula, TRUE)


def fails(formula: Formula) -> Want:
    """Want a formula to be false or unknown."""
    return Want(formula, NOT_TRUE)


def solve(wants: Sequence[Want], meter: Meter) -> Assumed | None:
    """Find a situation.

    Args:
        wants: What must hold in it.
        meter: Is charged for the work.

    Returns:
        As few assumptions as it takes to be in such a situation; None when there is none.

    Raises:
        Undecided: It takes too long to tell.
    """
    stack: list[tuple[Assumed, list[Want]]] = [({}, sorted(wants, key=lambda want: want.truths != TRUE))]
    while stack:
        assumed, before = stack.pop()
        still = _still_open(before, assumed, meter)
        if still is None:
            continue
        if not still:
            return _fewest(assumed, wants, meter)
        variable = open_variable(still[0].formula, assumed)
        assert variable is not None, "what is not sure depends on some variable"
        stack.extend(({**assumed, variable: value}, still) for value in reversed(variable.domain(assumed)))
    return None


def _still_open(wants: Sequence[Want], assumed: Assumed, meter: Meter) -> list[Want] | None:
    """Return what is not sure yet; None when something is impossible."""
    still = []
    for want in wants:
        meter.spend(2 + 2 * size(want.formula))
        truths = possible(want.formula, assumed)
        if not truths & want.truths:
            return None
        if truths & ~want.truths:
            still.append(want)
    return still


def _fewest(assumed: Assumed, wants: Sequence[Want], meter: Meter) -> Assumed:
    """Leave out every assumption that is not needed."""
    for variable in reversed(list(assumed)):
        fewer = {other: value for other, value in assumed.items() if other is not variable}
        if _still_open(wants, fewer, meter) == []:
            assumed = fewer
    return assumed
