"""Policy, checkpoint and asker become a matcher that decides modules."""

from typing import TYPE_CHECKING

from qpolicy.lazy import lazily

if TYPE_CHECKING:
    from qpolicy.bind.asked import Ask, askers, asks, decision_of, decisions_of, layers_of
    from qpolicy.bind.decision import Decision, Member
    from qpolicy.bind.expectations import Expectation, run_expectations
    from qpolicy.bind.matcher import Matcher
    from qpolicy.bind.policy import Policy, load, no_policy, parse
    from qpolicy.bind.rule import BoundRule
    from qpolicy.bind.world import World

__all__ = [
    "Ask",
    "BoundRule",
    "Decision",
    "Expectation",
    "Matcher",
    "Member",
    "Policy",
    "World",
    "askers",
    "asks",
    "decision_of",
    "decisions_of",
    "layers_of",
    "load",
    "no_policy",
    "parse",
    "run_expectations",
]

# A policy is looked at without a checkpoint, too; then neither native lists nor tensors are needed.
__getattr__ = lazily(
    __name__,
    {
        "qpolicy.bind.asked": ("Ask", "askers", "asks", "decision_of", "decisions_of", "layers_of"),
        "qpolicy.bind.decision": ("Decision", "Member"),
        "qpolicy.bind.expectations": ("Expectation", "run_expectations"),
        "qpolicy.bind.matcher": ("Matcher",),
        "qpolicy.bind.policy": ("Policy", "load", "no_policy", "parse"),
        "qpolicy.bind.rule": ("BoundRule",),
        "qpolicy.bind.world": ("World",),
    },
)
