"""Which policy a command works with: the one that was named, or the one beside the checkpoint."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from qpolicy.bind import Policy, load
from qpolicy.errors import QPolicyError
from qpolicy.resources import shipped

if TYPE_CHECKING:
    from qpolicy.checkpoint import Checkpoint

BUILTIN = "builtin:"


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
    path = beside(checkpoint)
    return None if path is None else load(path)


def policy_path(given: str) -> Path:
    """Return the file that ``--policy`` or an argument names.

    Raises:
        QPolicyError: No shipped policy has this name.
    """
    if not given.startswith(BUILTIN):
        return Path(given)
    name = given.removeprefix(BUILTIN)
    known = builtin_policies()
    if name in known:
        return known[name]
    near = get_close_matches(name, known, 1)
    hint = f"did you mean '{BUILTIN}{near[0]}'?" if near else f"there are: {', '.join(known)}"
    raise QPolicyError(f"{given}: qpolicy ships no policy of this name; {hint}")


def builtin_policies() -> dict[str, Path]:
    """Return the policies that are shipped with qpolicy, by name."""
    try:
        folder = shipped("policies")
    except FileNotFoundError as error:
        raise QPolicyError(str(error)) from error
    return {path.stem: path for path in sorted(folder.glob("*.qpolicy"))}


def beside(checkpoint: Checkpoint) -> Path | None:
    """Return the one policy file beside a checkpoint, or None.

    Raises:
        QPolicyError: There are several.
    """
    files = checkpoint.policy_files
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise QPolicyError(f"{checkpoint.path}: several policy files lie here ({names}); name one with --policy")
    return files[0] if files else None
