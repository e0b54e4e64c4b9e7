"""Which policy a command works with: the one that was named, or the one beside the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qpolicy.bind import Policy, load
from qpolicy.bind.files import policy_beside, policy_path

if TYPE_CHECKING:
    from qpolicy.checkpoint import Checkpoint


def named_policy(given: str | None) -> Policy | None:
    """Return the policy that ``--policy`` names; None when it names none.

    Args:
        given: A file, or ``builtin:NAME`` for a policy that is shipped with qpolicy.

    Raises:
        PolicySyntaxError: The file is not a policy.
        QPolicyError: The file cannot be read, or no shipped policy has this name.
    """
    return None if given is None else load(policy_path(given))


def policy_for(checkpoint: Checkpoint, named: Policy | None) -> Policy | None:
    """Return the policy that was named, or else the one beside the checkpoint, or else None.

    Raises:
        PolicySyntaxError: The file beside the checkpoint is not a policy.
        QPolicyError: It cannot be read, or several lie there.
    """
    if named is not None:
        return named
    path = policy_beside(checkpoint.path, by="--policy")
    return None if path is None else load(path)
