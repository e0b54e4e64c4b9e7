"""Policy, checkpoint and asker become a matcher that decides modules."""

from qpolicy.bind.asks import Ask, askers, asks
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
    "load",
    "no_policy",
    "parse",
    "run_expectations",
]
