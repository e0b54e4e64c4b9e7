"""What was proven about one statement of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from qpolicy.analysis.deciders import Decider
from qpolicy.analysis.situation import Situation

Verdict: TypeAlias = Literal["live", "dead", "never", "undecided"]
Reason: TypeAlias = Literal["", "condition", "names"]


@dataclass(frozen=True, slots=True)
class Taken:
    """An earlier statement that decides modules to which this one would apply as well.

    Attributes:
        by: The earlier statement.
        where: A situation in which it decides and this one would have applied.
    """

    by: Decider
    where: Situation


@dataclass(frozen=True, slots=True)
class Proof:
    """What was proven about a drop, a rule or ``otherwise``.

    Attributes:
        decider: The statement.
        verdict: ``live``: it decides some module. ``dead``: wherever it applies, an earlier statement decides.
            ``never``: it applies to no module at all. ``undecided``: it takes too long to tell.
        witness: For a live statement, a situation with a shortest name in which it decides.
        taken: The earlier statements that decide where it would apply, in order; together they are all that do.
        always: Whether it applies to every module in every situation, so that nothing after it is reached.
        reason: Why it never applies: its ``condition`` is never true, or only for modules without its ``names``.
        budget: The budget that was spent, in words, for an undecided statement, and for one of which ``taken`` and
            ``always`` are undecided; else empty.
    """

    decider: Decider
    verdict: Verdict
    witness: Situation | None = None
    taken: tuple[Taken, ...] = ()
    always: bool = False
    reason: Reason = ""
    budget: str = ""
