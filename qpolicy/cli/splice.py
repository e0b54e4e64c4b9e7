"""Exchanges one value in the text of a JSON file and leaves every other character as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from qpolicy.errors import QPolicyError

_BLANK = re.compile(r"[ \t\n\r]*")
_INDENT = re.compile(r"\n([ \t]+)\S")


def with_value(text: str, path: Sequence[str], value: Any, file: str) -> str:
    """Return a JSON text in which one value is another.

    Args:
        text: The text.
        path: The keys that lead to the value, each in the object before; the last one is added if it is not there.
        value: The new value.
        file: What messages call the text.

    Raises:
        QPolicyError: There is no object on the way to the value.
    """
    indent = _INDENT.search(text)
    unit = indent[1] if indent else None
    start, end = 0, len(text)
    for depth, key in enumerate(path):
        members = _members(text, _skip(text, start), file)
        found = [span for name, span in members if name == key]
        if found:
            start, end = found[-1]
        elif depth == len(path) - 1:
            return _added(
                text, _skip(text, start), bool(members), key, _dumped(value, unit, depth + 1), unit, depth + 1
            )
        else:
            raise QPolicyError(f"{file}: expected an object under the key {'.'.join(path[: depth + 1])!r}")
    return text[:start] + _dumped(value, unit, len(path)) + text[end:]


def _dumped(value: Any, unit: str | None, depth: int) -> str:
    if unit is None or not value:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", "\n" + unit * depth)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _members(text: str, at: int, file: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the members of the object that begins here, each with the place of its value."""
    if text[at : at + 1] != "{":
        raise QPolicyError(f"{file}: expected an object at character {at}; correct the file")
    decoder, members = json.JSONDecoder(), []
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = decoder.raw_decode(text, start)
        members.append((key, (start, end)))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return members


def _added(text: str, at: int, follows: bool, key: str, dumped: str, unit: str | None, depth: int) -> str:
    """Write one more member at the start of the object that begins here."""
    lead = f"\n{unit * depth}" if unit else ""
    tail = "," if follows else f"\n{unit * (depth - 1)}" if unit else ""
    space = " " if follows and not unit else ""
    return f"{text[: at + 1]}{lead}{json.dumps(key)}: {dumped}{tail}{space}{text[at + 1 :]}"
