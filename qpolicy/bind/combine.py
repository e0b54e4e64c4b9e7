"""The members' decisions become one: they agree, or the answer is an error that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from qpolicy.bind.answers import Answers
from qpolicy.bind.decision import Decision, Member, Problem
from qpolicy.bind.facts import WorldFacts

_SHOWN = 4


def combine(
    module: str,
    kind: str,
    members: tuple[Member, ...],
    answers: Answers,
    facts: WorldFacts,
    explainer: Callable[[Decision], str],
) -> Decision:
    """Return the decision for an engine name from those of its members.

    Args:
        module: The engine's name.
        kind: The kind that the engine asked it as.
        members: The members' decisions, at least one.
        answers: What each decision comes to for this name.
        facts: The facts about the checkpoint as a whole.
        explainer: Says why, for a person.
    """
    problem, told = _problem(module, kind, members, facts)
    deciding = next((member for member in members if member.action != "native"), members[0])
    return Decision(
        module=module,
        kind=kind,
        action="error" if problem else deciding.action,
        outcome="error" if problem else deciding.outcome,
        scheme=None if problem or deciding.rule is None else deciding.rule.decision.scheme,
        rule=deciding.rule,
        members=members,
        warnings=(),
        reason=told or deciding.reason,
        problem=problem,
        native=answers.native,
        explainer=explainer,
    )


def _problem(module: str, kind: str, members: Sequence[Member], facts: WorldFacts) -> tuple[Problem, str]:
    if told := _refusal(members):
        return "refused", told
    if told := _disagreement(module, members):
        return "disagree", told
    if told := _half_excluded(module, kind, members, facts):
        return "half-excluded", told
    return "", ""


def _refusal(members: Sequence[Member]) -> str:
    return next((member.reason for member in members if member.outcome == "error"), "")


def _disagreement(module: str, members: Sequence[Member]) -> str:
    groups: dict[tuple[str | None, str | None], list[Member]] = {}
    for member in members:
        groups.setdefault((member.outcome, member.scheme), []).append(member)
    if len(groups) < 2:
        return ""
    told = "; ".join(_told(outcome, scheme, group) for (outcome, scheme), group in groups.items())
    return (
        f"{module} is one layer in the engine but its members are decided differently: {told}. Decide all of them alike"
    )


def _told(outcome: str | None, scheme: str | None, group: Sequence[Member]) -> str:
    rules = {member.rule.place if member.rule else "the checkpoint's list" for member in group}
    named = f"{outcome or 'unknown'} ({scheme})" if scheme else outcome or "unknown"
    return f"{_names(member.name for member in group)} {named} by {', '.join(sorted(rules))}"


def _half_excluded(module: str, kind: str, members: Sequence[Member], facts: WorldFacts) -> str:
    """Say which members a list excludes when it excludes some of them and no rule decides any."""
    if len(members) < 2 or any(member.action != "native" for member in members):
        return ""
    truths = [(member.name, facts.excluded(member.name, kind)) for member in members]
    excluded = [name for name, truth in truths if truth is True]
    kept = [name for name, truth in truths if truth is False]
    if not excluded or not kept:
        return ""
    return (
        f"{module} is one layer in the engine but the checkpoint's list excludes {_names(excluded)} and not "
        f"{_names(kept)}. Decide {module} by a rule, or exclude all of its members or none"
    )


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
