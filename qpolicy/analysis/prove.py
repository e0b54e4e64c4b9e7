"""Proves of every deciding statement whether it is ever reached, and by which earlier ones it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qpolicy.analysis.deciders import Decider, script
from qpolicy.analysis.formulas import YES, any_name
from qpolicy.analysis.limits import Limits, Meter
from qpolicy.analysis.proof import Proof, Reason, Taken
from qpolicy.analysis.scenes import Scene, Step, scenes
from qpolicy.analysis.situation import Situation
from qpolicy.analysis.solve import Assumed, Want, fails, holds, solve
from qpolicy.bind import Policy
from qpolicy.paths import Undecided


def prove(policy: Policy, limits: Limits | None = None) -> tuple[Proof, ...]:
    """Prove what there is to prove about each deciding statement of a policy.

    Every answer is exact for the situations that `qpolicy.analysis.variables` and `qpolicy.analysis.naming` describe.
    That a drop over a whole draft also reaches modules of the draft outside its scope is not looked at.

    Args:
        policy: The policy.
        limits: How much it may cost; beyond that, statements are undecided.

    Returns:
        A proof for each drop, rule and ``otherwise``, in order.
    """
    limits = limits or Limits()
    meter = Meter(limits)
    said = script([policy])
    try:
        found = scenes(said, limits, meter)
    except Undecided as error:
        return tuple(Proof(decider, "undecided", budget=error.budget) for decider in said.deciders[0])
    court = _Court(found, meter)
    return tuple(court.judge(decider) for decider in said.deciders[0])


class _Court:
    def __init__(self, found: Sequence[Scene], meter: Meter) -> None:
        self._count = len(found)
        self._meter = meter
        self._solved: dict[tuple[Want, ...], Assumed | None] = {}
        self._places: dict[Decider, list[_Place]] = {}
        for scene in found:
            (steps,) = scene.steps
            for at, step in enumerate(steps):
                self._places.setdefault(step.decider, []).append(_Place(scene, steps[:at], step))

    def judge(self, decider: Decider) -> Proof:
        self._meter.ask()
        try:
            return self._judged(decider)
        except Undecided as error:
            return Proof(decider, "undecided", budget=error.budget)

    def _judged(self, decider: Decider) -> Proof:
        places = self._places.get(decider, [])
        witness = self._first((place.scene, place.decides()) for place in places)
        taken = tuple(self._taken(places))
        if witness is None and not taken:
            return Proof(decider, "never", reason=self._reason(decider))
        always = len(places) == self._count and not any(self._solve((fails(place.step.formula),)) for place in places)
        return Proof(decider, "live" if witness else "dead", witness, taken, always)

    def _first(self, wanted: Iterable[tuple[Scene, tuple[Want, ...]]]) -> Situation | None:
        for scene, wants in wanted:
            assumed = self._solve(wants)
            if assumed is not None:
                return Situation.of(scene, assumed)
        return None

    def _taken(self, places: Iterable[_Place]) -> Iterator[Taken]:
        found: dict[Decider, Situation] = {}
        for place in places:
            for earlier, wants in place.loses():
                if earlier not in found and (where := self._first([(place.scene, wants)])):
                    found[earlier] = where
        return (Taken(by, found[by]) for by in sorted(found, key=lambda by: by.index))

    def _reason(self, decider: Decider) -> Reason:
        return "condition" if self._solve((holds(any_name(decider.condition)),)) is None else "names"

    def _solve(self, wants: tuple[Want, ...]) -> Assumed | None:
        self._meter.spend(len(wants))
        if any(want.hopeless for want in wants):
            return None
        if wants not in self._solved:
            self._solved[wants] = solve(wants, self._meter)
        return self._solved[wants]


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement in one scene, after those that are tried before it there."""

    scene: Scene
    before: tuple[Step, ...]
    step: Step

    def decides(self) -> tuple[Want, ...]:
        """Return what must hold for the statement to decide."""
        return (holds(self.step.formula), *_all_fail(self.before))

    def loses(self) -> Iterator[tuple[Decider, tuple[Want, ...]]]:
        """Yield each earlier statement with what must hold for it to decide although this one applies."""
        for at, earlier in enumerate(self.before):
            yield earlier.decider, (holds(self.step.formula), holds(earlier.formula), *_all_fail(self.before[:at]))
            if earlier.formula == YES:
                return


def _all_fail(steps: Iterable[Step]) -> tuple[Want, ...]:
    return tuple(fails(step.formula) for step in steps)
