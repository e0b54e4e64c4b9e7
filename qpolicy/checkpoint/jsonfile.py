"""Reads a JSON file that a stranger wrote, with limits and with errors that name line and column.

``NaN`` and ``Infinity`` are taken as numbers, as Python's own reader takes them: published configs hold them (the
``time_step_limit`` of Mamba models). Of a key that comes twice the last one counts, as in every engine, and the file's
reader learns its name so that it can say so.
"""

from __future__ import annotations

import json
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qpolicy.errors import CheckpointError

SIZE_LIMIT = 64 * 1024 * 1024
"""The most bytes of one JSON file. The index of a 90,000-tensor checkpoint has 8 million."""

_CONTAINER_LIMIT = 1_000_000
_KEY_LIMIT = 4_000_000


@dataclass(frozen=True, slots=True)
class JsonFile:
    """The content of one JSON file.

    Attributes:
        value: What it holds.
        duplicates: The keys that come more than once in the same object, in order.
    """

    value: Any
    duplicates: tuple[str, ...]


def read_json(path: Path) -> JsonFile:
    """Read a JSON file.

    Args:
        path: The file.

    Returns:
        Its value, and the keys that it holds twice.

    Raises:
        CheckpointError: The file cannot be read, is too large, or is not JSON; the message names file, line and
            column, and what to do.
    """
    text = _read_text(path)
    duplicates: list[str] = []

    def keep_last(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            duplicates.extend(key for key, count in counts.items() if count > 1)
        return value

    try:
        value = json.loads(text, object_pairs_hook=keep_last)
        if "\\ud" in text.casefold():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise _broken(path, text, error.pos, error.msg) from None
    except RecursionError:
        raise CheckpointError(f"{path}: the JSON is nested too deeply; expected a config file's few levels") from None
    except UnicodeEncodeError:
        raise CheckpointError(f"{path}: an escaped half of a character (\\ud...); expected whole characters") from None
    except ValueError:  # Python refuses to convert thousands of digits
        raise CheckpointError(f"{path}: a number of thousands of digits; expected numbers of a sane length") from None
    return JsonFile(value, tuple(duplicates))


def read_object(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a JSON file that must hold an object.

    Args:
        path: The file.

    Returns:
        The object and the keys that come twice in it.

    Raises:
        CheckpointError: As :func:`read_json`, or the file holds something else than an object.
    """
    content = read_json(path)
    if not isinstance(content.value, dict):
        found = type(content.value).__name__
        raise CheckpointError(f'{path}:1:1: found a JSON {found}; expected an object {{"KEY": ...}}; correct the file')
    return content.value, content.duplicates


def _read_text(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CheckpointError(f"{path}: not a regular file; expected a JSON file or a link to one")
        if status.st_size > SIZE_LIMIT:
            raise CheckpointError(f"{path}: {status.st_size} bytes; expected at most {SIZE_LIMIT} of a JSON file")
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot be read: {error.strerror or error}; check the path and its rights"
        ) from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8")
        raise _broken(path, before, len(before), f"the byte 0x{raw[error.start]:02x} is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise _broken(path, text, 0, "a byte order mark")
    if text.count("[") + text.count("{") > _CONTAINER_LIMIT:
        raise CheckpointError(f"{path}: more than {_CONTAINER_LIMIT} lists and objects; expected a config file's few")
    if text.count(":") > _KEY_LIMIT:
        raise CheckpointError(f"{path}: more than {_KEY_LIMIT} keys; expected fewer, even of an index file")
    return text


def _broken(path: Path, text: str, position: int, what: str) -> CheckpointError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return CheckpointError(f"{path}:{line}:{column}: {what}; expected JSON; correct the file or download it again")
