"""Proves of every deciding statement whether it is ever reached, and by which earlier ones it is not."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

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
    # What matters most comes first: where the budget does not suffice for all, whether rules are reached is known.
    reached = [court.reached(decider) for decider in said.deciders[0]]
    return tuple(court.told(proof) for proof in reached)


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

    def reached(self, decider: Decider) -> Proof:
        """Say whether a statement ever decides; one that does not is said to be dead for the time being."""
        self._meter.ask()
        places = self._places.get(decider, [])
        try:
            witness = self._first((place.scene, place.decides()) for place in places)
        except Undecided as error:
            return Proof(decider, "undecided", budget=error.budget)
        return Proof(decider, "live" if witness else "dead", witness)

    def told(self, proof: Proof) -> Proof:
        """Add which statements come first, and why a statement never applies at all."""
        if proof.verdict == "undecided":
            return proof
        self._meter.ask()
        places = self._places.get(proof.decider, [])
        try:
            taken = tuple(self._taken(places))
            if proof.verdict == "dead" and not taken:
                return replace(proof, verdict="never", reason=self._reason(proof.decider))
            return replace(proof, taken=taken, always=self._always(places))
        except Undecided as error:
            return replace(proof, verdict="live" if proof.witness else "undecided", budget=error.budget)

    def _always(self, places: Sequence[_Place]) -> bool:
        everywhere = len(places) == self._count
        return everywhere and not any(self._solve((fails(place.step.formula),)) for place in places)

    def _first(self, wanted: Iterable[tuple[Scene, tuple[Want, ...]]]) -> Situation | None:
        for scene, wants in wanted:
            assumed = self._solve(wants)
            if assumed is not None:
                return Situation.of(scene, assumed)
        return None

    def _taken(self, places: Iterable[_Place]) -> Iterator[Taken]:
        found: dict[Decider, Situation] = {}
        for place in places:
            self._meter.spend(1 + len(place.before))
            for earlier, wants in place.loses(found):
                where = self._first([(place.scene, wants)])
                if where is not None:
                    found[earlier] = where
        return (Taken(by, found[by]) for by in sorted(found, key=lambda by: by.index))

    def _reason(self, decider: Decider) -> Reason:
        return "condition" if self._solve((holds(any_name(decider.condition)),)) is None else "names"

    def _solve(self, wants: tuple[Want, ...]) -> Assumed | None:
        self._meter.spend(4 * len(wants))
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

    def loses(self, known: Container[Decider]) -> Iterator[tuple[Decider, tuple[Want, ...]]]:
        """Yield each earlier statement with what must hold for it to decide although this one applies.

        Args:
            known: The statements of which it is known already that they do so somewhere.
        """
        for at, earlier in enumerate(self.before):
            if earlier.decider not in known:
                first = _all_fail(self.before[:at])
                yield earlier.decider, (holds(self.step.formula), holds(earlier.formula), *first)
            if earlier.formula == YES:
                return


def _all_fail(steps: Iterable[Step]) -> tuple[Want, ...]:
    return tuple(fails(step.formula) for step in steps)
