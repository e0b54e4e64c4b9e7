"""Looks at the text of a policy, without a checkpoint."""

from __future__ import annotations

from qpolicy.bind import parse
from qpolicy.lang import PolicySyntaxError
from qpolicy.lint.policy import POLICY_CHECKS, lint_policy
from qpolicy.lint.selection import Selection
from qpolicy.lint.settle import Settled, settle
from qpolicy.lint.syntax import findings_of

LOOKED_FOR = frozenset(check.code.code for check in POLICY_CHECKS)
"""The codes that can be found in a policy alone."""


def lint_text(text: str, name: str, selection: Selection) -> Settled:
    """Return what there is to say about a policy's text.

    Args:
        text: The policy, decoded.
        name: What messages call it.
        selection: Which codes are wanted.
    """
    try:
        policy = parse(text, filename=name)
    except PolicySyntaxError as error:
        return Settled(findings_of(error))
    return settle(lint_policy(policy), policy.source, selection, LOOKED_FOR, final=True)
