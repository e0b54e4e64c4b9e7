"""Which file a policy is read from: one that is named, one that is shipped, or the one beside a checkpoint."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from qpolicy.errors import QPolicyError
from qpolicy.resources import shipped

BUILTIN = "builtin:"
"""How the name of a shipped policy begins."""


def policy_path(given: str, *, by: str = "") -> Path:
    """Return the file that an option, an argument or a setting names.

    Args:
        given: A file, or ``builtin:NAME`` for a policy that is shipped with qpolicy.
        by: The setting that names it, for the message; empty for an argument.

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
    where = f"{by}={given}" if by else given
    raise QPolicyError(f"{where}: qpolicy ships no policy of this name; {hint}")


def builtin_policies() -> dict[str, Path]:
    """Return the policies that are shipped with qpolicy, by name.

    Raises:
        QPolicyError: The installation lacks them.
    """
    try:
        folder = shipped("policies")
    except FileNotFoundError as error:
        raise QPolicyError(str(error)) from error
    return {path.stem: path for path in sorted(folder.glob("*.qpolicy"))}


def policy_beside(folder: Path, *, by: str) -> Path | None:
    """Return the one policy file beside a checkpoint, or None.

    Args:
        folder: The checkpoint's folder.
        by: What names a policy instead, for the message: an option or a setting.

    Raises:
        QPolicyError: There are several.
    """
    files = sorted(folder.glob("*.qpolicy"))
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        raise QPolicyError(f"{folder}: several policy files lie here ({names}); keep one, or name one with {by}")
    return files[0] if files else None
