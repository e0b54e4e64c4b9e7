"""Replaces a file's content."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Replace a file's content whole or not at all, keeping its mode; a link stays a link to the same file.

    Raises:
        OSError: The folder cannot be written; the file is then as it was.
    """
    target = path.resolve()
    from tempfile import mkstemp  # noqa: PLC0415 - takes longer to import than most files to read

    handle, name = mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(stat.S_IMODE(target.stat().st_mode))
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
