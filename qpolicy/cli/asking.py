"""Binds what the command line names, and shows decisions as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qpolicy.bind import BoundRule, Decision, Matcher, Policy, no_policy
from qpolicy.checkpoint import FUSED, Checkpoint, open_checkpoint
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.options import Families
from qpolicy.cli.policies import named_policy, policy_for
from qpolicy.cli.progress import progress
from qpolicy.lint.names import looks_misspelt
from qpolicy.paths import Pattern, PatternError, suggest


def opened(checkpoint: str, given: str | None) -> tuple[Checkpoint, Policy | None]:
    """Open a checkpoint and find its policy; ``given`` is what ``--policy`` says.

    Raises:
        QPolicyError: Either cannot be read.
    """
    named = named_policy(given)
    with progress(f"reading {checkpoint}"):
        found = open_checkpoint(checkpoint)
    return found, policy_for(found, named)


def bound(checkpoint: Checkpoint, policy: Policy | None, *, engine: str, draft: bool, packed: Families) -> Matcher:
    """Bind a policy, or none, with the common fused families and over them those of ``--packed``.

    Raises:
        BindError: The policy does not fit the checkpoint, or the engine is not known.
    """
    return (policy or no_policy()).bind(checkpoint, engine=engine, draft=draft, packed=families(packed))


def families(packed: Families) -> Families | None:
    """Return the common fused families with those of ``--packed`` over them; None when none is given."""
    return {**FUSED, **packed} if packed else None


def meant(matcher: Matcher, decision: Decision) -> Iterator[str]:
    """Yield the name that was probably meant by one that reaches no tensor, in words, if one is near."""
    stored = matcher.binding.world.stored
    asked = decision.members[0].name if decision.members else decision.module
    if decision.kind == "attention" or stored.is_stored(asked):
        return
    names = dict.fromkeys(alias for name in stored.modules for alias in stored.aliases(name))
    try:
        hints = suggest(Pattern.literal(asked), names)
    except PatternError:
        return
    near = (hint for hint in hints if looks_misspelt(hint) and str(hint.replaced) in names)
    yield from (f"did you mean {hint.replaced}?" for hint in list(near)[:1])


def decision_json(decision: Decision) -> dict[str, object]:
    """Return a decision as it stands in a JSON document."""
    return {
        "module": decision.module,
        "action": decision.action,
        "outcome": decision.outcome,
        "scheme": decision.scheme,
        "rule": rule_json(decision.rule),
        "members": [member.name for member in decision.members],
        "warnings": list(decision.warnings),
    }


def rule_json(rule: BoundRule | None) -> dict[str, object] | None:
    """Return a deciding rule as it stands in a JSON document; None when no rule decided."""
    if rule is None:
        return None
    return {"file": rule.file, "line": rule.line, "column": rule.column, "text": rule.text}


def exit_code(decisions: Iterable[Decision]) -> int:
    """Return 1 when a decision is an error or comes with a warning, else 0."""
    troubled = any(decision.outcome == "error" or decision.warnings for decision in decisions)
    return FOUND if troubled else CLEAN
