"""Why a decision came out as it did, in text: every rule that was tried, clause by clause, and the nearest miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qpolicy.bind.decision import Decision, Member
from qpolicy.bind.facts import ModuleFacts
from qpolicy.bind.kleene import Clause, Truth, trace
from qpolicy.bind.lookup import Lookup
from qpolicy.bind.rule import BoundRule
from qpolicy.paths import nearest_misses

_WORDS: dict[Truth, str] = {True: "true", False: "false", None: "unknown"}
_MISSES = 3


def explain(decision: Decision, lookup: Lookup) -> str:
    """Return the explanation of a decision, several lines long.

    Args:
        decision: The decision.
        lookup: The lookup of the matcher that made it.
    """
    return "\n".join(_lines(decision, lookup))


def _lines(decision: Decision, lookup: Lookup) -> Iterator[str]:
    yield f"{decision.module} ({decision.kind}): {verdict(decision)}"
    if decision.reason:
        yield f"  because {decision.reason}"
    if decision.native is not None and decision.native.why != decision.reason:
        yield f"  the checkpoint's own list: {decision.native.outcome or 'not readable'} ({decision.native.why})"
    for group in _alike(decision, lookup):
        yield ""
        yield from _member_lines(decision, group, lookup)
    for warning in decision.warnings:
        yield f"  warning: {warning}"


def verdict(decision: Decision) -> str:
    """Return the decision in a few words, such as ``unquantized, by model.qpolicy:3:1``."""
    outcome = decision.outcome or "unknown"
    scheme = f" as {decision.scheme}" if decision.scheme else ""
    action = "" if decision.action == outcome else f" ({decision.action})"
    by = f", by {decision.rule.place}" if decision.rule else ", no rule decides"
    return f"{outcome}{scheme}{action}{by}"


def _alike(decision: Decision, lookup: Lookup) -> Iterable[list[Member]]:
    """Put members together that went the same way, so that 768 projections of an experts layer read as one."""
    groups: dict[object, list[Member]] = {}
    for member in decision.members:
        facts = lookup.facts(member.name, decision.kind)
        evidence = facts.tensors.evidence if facts.tensors else None
        groups.setdefault((member.action, member.outcome, member.rule, evidence), []).append(member)
    return groups.values()


def _member_lines(decision: Decision, group: list[Member], lookup: Lookup) -> Iterator[str]:
    member = group[0]
    facts = lookup.facts(member.name, decision.kind)
    more = f" and {len(group) - 1} more like it" if len(group) > 1 else ""
    tensors = facts.tensors
    yield f"  {member.name}{more}: {tensors.evidence if tensors else 'no tensors on disk'}"
    yield from _drop_lines(lookup)
    tried = lookup.candidates(facts.aliases)
    for rule in tried:
        yield from _rule_lines(rule, facts)
        if rule is member.rule:
            return
    if member.rule is not None:
        yield f"    {member.rule.place}: {member.rule.text}  -> decides"
        return
    yield "    no rule decides; the checkpoint's own list is asked (native)"
    yield from _miss_lines(lookup, member.name, tried)


def _drop_lines(lookup: Lookup) -> Iterator[str]:
    for drop in lookup.binding.drops:
        if drop.rule.condition is not None:
            yield f"    {drop.rule.place}: {drop.rule.text}  -> {_WORDS[drop.truth]}"
            yield from _clause_lines(trace(drop.rule.condition, lookup.binding.facts.ask), drop.rule)


def _rule_lines(rule: BoundRule, facts: ModuleFacts) -> Iterator[str]:
    if rule.condition is None:
        yield f"    {rule.place}: {rule.text}  -> decides"
        return
    clause = trace(rule.condition, facts.ask)
    end = "decides" if clause.truth else f"does not apply, its condition is {_WORDS[clause.truth]}"
    yield f"    {rule.place}: {rule.text}  -> {end}"
    yield from _clause_lines(clause, rule)


def _clause_lines(clause: Clause, rule: BoundRule) -> Iterator[str]:
    for fact in clause.facts():
        yield f"        {' '.join(rule.source.slice(fact.node.span).split())} is {_WORDS[fact.truth]}"


def _miss_lines(lookup: Lookup, name: str, tried: tuple[BoundRule, ...]) -> Iterator[str]:
    others = [rule for rule in lookup.binding.rules if rule not in tried and rule.patterns]
    patterns = {pattern: rule for rule in reversed(others) for pattern in rule.patterns or ()}
    for miss in nearest_misses(tuple(patterns), name, _MISSES):
        yield f"    nearest miss: {patterns[miss.pattern].place}: {miss.pattern}: {miss.text}"
