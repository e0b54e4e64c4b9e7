"""Everything that can be said about a policy alone."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.analysis.limits import Limits
from qpolicy.analysis.proof import Proof
from qpolicy.analysis.prove import prove
from qpolicy.analysis.redundant import Repeats, repeats
from qpolicy.analysis.unused import unused_sets
from qpolicy.bind import Policy
from qpolicy.lang.tree import Let


@dataclass(frozen=True, slots=True)
class Analysis:
    """What was found out about a policy.

    Attributes:
        policy: The policy.
        proofs: For each drop, rule and ``otherwise``, in order, whether it is ever reached.
        repeats: The patterns that add nothing to their list.
        unused: The sets that nothing uses.
    """

    policy: Policy
    proofs: tuple[Proof, ...]
    repeats: Repeats
    unused: tuple[Let, ...]


def analyse(policy: Policy, limits: Limits | None = None) -> Analysis:
    """Find out what can be said about a policy alone.

    Args:
        policy: The policy.
        limits: How much it may cost; what it does not suffice for is undecided.
    """
    return Analysis(policy, prove(policy, limits), repeats(policy, limits), unused_sets(policy.document))
