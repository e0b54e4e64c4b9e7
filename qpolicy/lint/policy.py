"""Runs every check that looks at a policy alone, without a checkpoint."""

from __future__ import annotations

from qpolicy.analysis import Limits, analyse
from qpolicy.bind import Policy
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.rules import (
    qp101_dead_rule,
    qp102_shadowed,
    qp103_never_applies,
    qp104_always_applies,
    qp105_unreachable_otherwise,
    qp106_unused_set,
    qp107_duplicate_pattern,
    qp108_pattern_inside_another,
    qp109_drop_never_fires,
    qp110_undecided,
    qp111_misspelt_syntax,
)

POLICY_CHECKS: tuple[PolicyCheck, ...] = (
    qp101_dead_rule.CHECK,
    qp102_shadowed.CHECK,
    qp103_never_applies.CHECK,
    qp104_always_applies.CHECK,
    qp105_unreachable_otherwise.CHECK,
    qp106_unused_set.CHECK,
    qp107_duplicate_pattern.CHECK,
    qp108_pattern_inside_another.CHECK,
    qp109_drop_never_fires.CHECK,
    qp110_undecided.CHECK,
    qp111_misspelt_syntax.CHECK,
)


def lint_policy(policy: Policy, limits: Limits | None = None) -> tuple[Finding, ...]:
    """Return what there is to say about a policy alone, in the order of the text.

    Args:
        policy: The policy.
        limits: How much it may cost; what it does not suffice for is reported as undecided.
    """
    analysis = analyse(policy, limits)
    found = (finding for check in POLICY_CHECKS for finding in check.find(analysis))
    return tuple(sorted(found, key=lambda finding: (finding.line or 0, finding.column or 0, finding.code)))
