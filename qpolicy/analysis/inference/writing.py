"""From a plan to the policy's text, each rule with a comment that counts its modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from qpolicy.analysis.inference.evidence import Evidence
from qpolicy.analysis.inference.plan import DRAFT, Plan, PlannedRule
from qpolicy.analysis.inference.refused import aliases
from qpolicy.lang import Source, format_source


def write(plan: Plan, evidence: Evidence, heading: str) -> str:
    """Return the policy in its canonical layout.

    Args:
        plan: What it says.
        evidence: The modules to count.
        heading: What the policy was learned from, in a sentence.
    """
    counts = _counts(plan, evidence)
    blocks = ["qpolicy 1", _heading(evidence, heading), *_sets(plan), *_drop(plan), "\n".join(_rules(plan, counts))]
    return format_source(Source("<learned>", "\n\n".join(blocks) + "\n"))


def counted(number: int) -> str:
    """Return ``1 module`` or ``1,234 modules``."""
    return "1 module" if number == 1 else f"{number:,} modules"


def _heading(evidence: Evidence, heading: str) -> str:
    plain, quantized = evidence.count("unquantized"), evidence.count("quantized")
    more = f", {evidence.unknown:,} unknown" if evidence.unknown else ""
    return f"# {heading}\n# Modules: {plain:,} plain, {quantized:,} quantized{more}."


def _sets(plan: Plan) -> Iterator[str]:
    lines = [f"let {rule.set} = {', '.join(rule.patterns)}" for rule in plan.rules if rule.set not in (None, DRAFT)]
    if lines:
        yield "\n".join(lines)


def _drop(plan: Plan) -> Iterator[str]:
    if plan.drop is not None:
        yield f"# The engine by itself leaves this draft unquantized; a drop takes that decision over.\n{plan.drop}"


def _rules(plan: Plan, counts: Counter[int]) -> Iterator[str]:
    for position, rule in enumerate(plan.rules):
        yield f"{_selectors(rule)}: {rule.decision}  # {counted(counts[position])}"
    yield f"otherwise: {plan.otherwise}  # {counted(counts[len(plan.rules)])}"


def _selectors(rule: PlannedRule) -> str:
    return f"@{rule.set}" if rule.set else ", ".join(rule.patterns)


def _counts(plan: Plan, evidence: Evidence) -> Counter[int]:
    """Count the modules that each rule decides; those of ``otherwise`` stand behind the last rule."""
    index, last = plan.index(), len(plan.rules)
    counts: Counter[int] = Counter()
    for name in evidence.states:
        first = min((found for alias in aliases(name) for found in index.matches(alias)), default=last)
        counts[first] += first < last or name not in evidence.tables
    return counts
