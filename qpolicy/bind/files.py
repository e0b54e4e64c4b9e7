"""Which file a policy is read from: one that is named, one that is shipped, or the one beside a checkpoint."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from qpolicy.errors import QPolicyError
from qpolicy.resources import shipped

BUILTIN = "builtin:"
"""How the name of a shipped policy begins."""

_OTHER_FILES = {
    ".json": "a JSON file, no policy; `qpolicy import` turns the list in a config into one",
    ".safetensors": "a file of tensors, no policy; `qpolicy init` writes one for a checkpoint's folder",
}


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


def read_policy(path: Path) -> bytes:
    """Return the content of a policy file.

    Raises:
        QPolicyError: It cannot be read, or its name says that it is something else.
    """
    if path.suffix in _OTHER_FILES:
        raise QPolicyError(f"{path}: {_OTHER_FILES[path.suffix]}")
    try:
        return path.read_bytes()
    except IsADirectoryError as error:
        such = next(iter(sorted(path.glob("*.qpolicy"))), path / "model.qpolicy")
        raise QPolicyError(f"{path}: a folder; expected a policy file, such as {such}") from error
    except OSError as error:
        raise QPolicyError(f"{path}: cannot read this policy file: {error.strerror or error}") from error


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
