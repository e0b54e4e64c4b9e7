"""The kinds of modules that policies tell apart by name, each with the statements that may decide it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qpolicy.analysis.cells import Groups, cells
from qpolicy.analysis.deciders import Decider, Script
from qpolicy.analysis.formulas import NO, Formula, groups_of, without_names
from qpolicy.analysis.limits import Limits, Meter
from qpolicy.paths.budget import Budget


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A statement that may decide the modules of a scene.

    Attributes:
        decider: The statement.
        formula: When it applies to them, their names aside.
    """

    decider: Decider
    formula: Formula


@dataclass(frozen=True, slots=True)
class Scene:
    """Modules that their names make alike for every statement.

    Attributes:
        name: A shortest of their names.
        also: The fused names that this module goes by too.
        steps: For each policy, the statements that may decide them, in order.
    """

    name: str
    also: tuple[str, ...]
    steps: tuple[tuple[Step, ...], ...]


def scenes(script: Script, limits: Limits, meter: Meter) -> tuple[Scene, ...]:
    """Find every kind of module, those with the shortest names first.

    Raises:
        Undecided: There are too many, or telling them apart takes too long.
    """
    staging = _Staging(script, meter)
    staged: dict[object, Scene] = {}
    for cell in cells(script.groups, Budget(limits.states, limits.names_work)):
        meter.ask()
        steps = staging.steps(cell.groups)
        staged.setdefault(steps, Scene(cell.name, cell.also, steps))
    return tuple(staged.values())


class _Staging:
    """Simplifies the statements' formulas for modules, each only as often as their names make a difference."""

    def __init__(self, script: Script, meter: Meter) -> None:
        self._meter = meter
        self._asked: dict[Decider, Groups] = {}
        self._steps: dict[tuple[Decider, Groups], Step | None] = {}
        self._alike: dict[tuple[Decider, Formula], Step] = {}
        self._sides = [self._side(deciders) for deciders in script.deciders]

    def steps(self, caught: Groups) -> tuple[tuple[Step, ...], ...]:
        return tuple(tuple(self._side_steps(side, caught)) for side in self._sides)

    def _side(self, deciders: Sequence[Decider]) -> dict[int | None, list[Decider]]:
        """Sort statements by the groups that they ask about; those that need none of them to apply under None."""
        found: dict[int | None, list[Decider]] = {None: []}
        for decider in deciders:
            self._asked[decider] = frozenset(groups_of(decider.formula))
            uncaught = self._step(decider, frozenset()) is not None
            for group in [None] if uncaught else self._asked[decider]:
                found.setdefault(group, []).append(decider)
        return found

    def _side_steps(self, side: dict[int | None, list[Decider]], caught: Groups) -> Iterator[Step]:
        asked = {decider for group in (None, *caught) for decider in side.get(group, ())}
        for decider in sorted(asked, key=lambda one: one.index):
            if (step := self._step(decider, caught)) is not None:
                yield step

    def _step(self, decider: Decider, caught: Groups) -> Step | None:
        self._meter.spend(1)
        key = (decider, self._asked[decider] & caught)
        if key not in self._steps:
            formula = without_names(decider.formula, caught)
            alike = (decider, formula)
            self._steps[key] = None if formula == NO else self._alike.setdefault(alike, Step(decider, formula))
        return self._steps[key]
