"""What a matcher answers: one decision for each name that an engine asks about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

Problem: TypeAlias = Literal["", "refused", "disagree", "half-excluded"]

if TYPE_CHECKING:
    from qpolicy.bind.rule import BoundRule
    from qpolicy.lang.tree import Action, Outcome
    from qpolicy.native import Answer


@dataclass(frozen=True, slots=True)
class Member:
    """One stored module that an engine name stands for.

    Attributes:
        name: The stored module's name.
        action: What was decided for it.
        outcome: What that comes to; None where the native list could not be read.
        scheme: The scheme's name, where one is known.
        rule: The deciding rule, or None when no statement decided.
        reason: Why, in words, for errors and native answers.
        skipped: Earlier rules whose pattern matches and whose condition is unknown, so that they did not apply.
    """

    name: str
    action: Action
    outcome: Outcome | None
    scheme: str | None
    rule: BoundRule | None
    reason: str = ""
    skipped: tuple[BoundRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer for one engine name.

    Attributes:
        module: The name as the engine asked it.
        kind: ``linear``, ``moe``, ``lm_head``, ``embedding``, ``attention`` or ``other``.
        action: ``unquantized``, ``quantized``, ``native`` or ``error``.
        outcome: ``unquantized``, ``quantized`` or ``error``; None where the native list could not be read.
        scheme: NAME in ``quantized as NAME``, else None.
        rule: The deciding rule; None when no statement of the policy decided.
        members: The stored modules behind the name, each with its own decision.
        warnings: Sentences about rules that could not be applied and names that reach no tensor.
        reason: Why, in words; for an error it says what to do.
        problem: What kind of error it is: ``refused`` (by the policy, the engine or the names), ``disagree`` (the
            members are decided differently) or ``half-excluded`` (the list names some members only); else empty.
        native: What the engine makes of the checkpoint's own list for this name, whatever was decided; None when
            there is no list to read.
        explainer: Says why, for a person.
    """

    module: str
    kind: str
    action: Action
    outcome: Outcome | None
    scheme: str | None
    rule: BoundRule | None
    members: tuple[Member, ...]
    warnings: tuple[str, ...]
    reason: str
    problem: Problem
    native: Answer | None
    explainer: Callable[[Decision], str] = field(compare=False, repr=False)

    @classmethod
    def refused(cls, module: str, kind: str, reason: str, explainer: Callable[[Decision], str]) -> Decision:
        """Return the error for a name that cannot be looked up at all."""
        return cls(module, kind, "error", "error", None, None, (), (), reason, "refused", None, explainer)

    def explain(self) -> str:
        """Return the decision with every rule that was tried, every clause's truth and the nearest miss."""
        return self.explainer(self)
