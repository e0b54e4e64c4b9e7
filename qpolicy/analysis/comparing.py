"""Do two policies ever decide differently? If so, the shortest name and the facts on which they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.analysis.changes import Change, changes
from qpolicy.analysis.deciders import Decider, Script, script
from qpolicy.analysis.formulas import FALSE, TRUE, YES, Formula
from qpolicy.analysis.limits import Limits, Meter
from qpolicy.analysis.scenes import Scene, Step, scenes
from qpolicy.analysis.situation import Situation
from qpolicy.analysis.solve import Want, fails, holds, solve
from qpolicy.bind import Policy
from qpolicy.checkpoint import Checkpoint
from qpolicy.lang.tree import Drop
from qpolicy.paths import Undecided


@dataclass(frozen=True, slots=True)
class Difference:
    """A situation in which two policies decide differently.

    Attributes:
        where: The situation; no module with a shorter name is decided differently.
        first: The statement of the first policy that decides there; None where the checkpoint's list does.
        second: The same of the second policy.
    """

    where: Situation
    first: Decider | None
    second: Decider | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two policies compare.

    Attributes:
        equivalent: Whether they decide every module alike, whatever the facts; None if that is undecided.
        difference: Where they differ, if they do.
        changes: What the second one changes on a checkpoint; empty where there is none.
        budget: When undecided, the budget that was spent, in words.
    """

    equivalent: bool | None
    difference: Difference | None = None
    changes: tuple[Change, ...] = ()
    budget: str = ""


def compare(
    first: Policy,
    second: Policy,
    checkpoint: Checkpoint | None = None,
    *,
    engine: str = "sglang",
    limits: Limits | None = None,
) -> Comparison:
    """Compare two policies.

    What is compared is the decision: its action and its scheme, and whether a draft is dropped. A drop of a draft is
    another decision than ``unquantized``, because a dropped draft is built without any quantization config; and
    ``native`` in a draft is another one beside a drop statement, because that replaces the engine's own rule for
    leaving drafts unquantized. The text of an ``error`` and the warnings about unknown conditions are not compared.

    Args:
        first: One policy.
        second: The other.
        checkpoint: A checkpoint on which both are tried as well.
        engine: Who asks for the modules of the checkpoint.
        limits: How much it may cost; beyond that, the answer is undecided.

    Raises:
        BindError: A policy does not fit the checkpoint.
    """
    changed = changes(first, second, checkpoint, engine=engine) if checkpoint else ()
    if first.document == second.document:
        return Comparison(True, None, changed)
    try:
        difference = _difference(script([first, second]), limits or Limits())
    except Undecided as error:
        return Comparison(None, None, changed, error.budget)
    return Comparison(difference is None, difference, changed)


def _difference(said: Script, limits: Limits) -> Difference | None:
    meter = Meter(limits)
    sides = tuple(_Side(any(isinstance(one.statement, Drop) for one in deciders)) for deciders in said.deciders)
    tried: set[object] = set()
    for scene in scenes(said, limits, meter):
        meter.ask()
        for first, second, wants in _disagreements(scene, sides, said.draft):
            if wants in tried:
                continue
            tried.add(wants)
            assumed = solve(wants, meter)
            if assumed is not None:
                return Difference(Situation.of(scene, assumed), first, second)
    return None


Label: TypeAlias = tuple[str, str | None]
"""What a statement decides: an action, or that a draft is dropped, and the scheme."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the policies; whether it has drops decides what ``native`` means in a draft."""

    has_drops: bool

    def label(self, decider: Decider | None, *, draft: bool) -> Label:
        """Return what a statement decides for a target or draft; None stands for the checkpoint's list."""
        statement = None if decider is None else decider.statement
        if isinstance(statement, Drop):
            return ("dropped" if draft else "unquantized"), None
        if statement is None or statement.decision.action == "native":
            return ("native beside drops" if draft and self.has_drops else "native"), None
        return statement.decision.action, statement.decision.scheme


def _disagreements(
    scene: Scene, sides: Sequence[_Side], draft: Formula
) -> Iterator[tuple[Decider | None, Decider | None, tuple[Want, ...]]]:
    """Yield every pair of statements that decide differently, with what must hold for each to decide."""
    here, there = (list(_deciding(steps)) for steps in scene.steps)
    for first, first_wants in here:
        for second, second_wants in there:
            differs = [sides[0].label(first, draft=one) != sides[1].label(second, draft=one) for one in (False, True)]
            if any(differs):
                who = () if all(differs) else (Want(draft, TRUE if differs[True] else FALSE),)
                wants = (*first_wants, *second_wants, *who)
                if not any(want.hopeless for want in wants):
                    yield first, second, wants


def _deciding(steps: Sequence[Step]) -> Iterator[tuple[Decider | None, tuple[Want, ...]]]:
    """Yield each statement that may decide, and None for the checkpoint's list, with what must hold for it to."""
    before: tuple[Want, ...] = ()
    for step in steps:
        yield step.decider, (holds(step.formula), *before)
        if step.formula == YES:
            return
        before = (*before, fails(step.formula))
    yield None, before
