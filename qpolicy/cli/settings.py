"""The table ``[tool.qpolicy]`` of the nearest pyproject.toml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from qpolicy.bind.files import BUILTIN
from qpolicy.errors import QPolicyError
from qpolicy.lint.selection import Selection, prefixes

FILE = "pyproject.toml"
TABLE = "tool.qpolicy"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project has settled.

    Attributes:
        values: Each setting that is there, by its key; a policy's file is given from the file's own folder.
        file: The file that it comes from; None where there is none.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None

    def selection(self, select: Sequence[str], ignore: Sequence[str]) -> Selection:
        """Return which findings are wanted: as the command line says, or else as the settings do.

        Args:
            select: What ``--select`` gives.
            ignore: What ``--ignore`` gives.

        Raises:
            QPolicyError: A setting names a finding that there is not.
        """
        return Selection(tuple(select) or self._codes("select"), tuple(ignore) or self._codes("ignore"))

    def _codes(self, key: str) -> tuple[str, ...]:
        return prefixes(self.values.get(key, ()), f"{self.file}: {TABLE}.{key}")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


SETTINGS: Mapping[str, tuple[str, Callable[[object], bool]]] = MappingProxyType(
    {
        "select": ("a list of codes", _is_texts),
        "ignore": ("a list of codes", _is_texts),
        "policy": ("a file, or builtin:NAME", lambda value: isinstance(value, str)),
        "engine": ("an engine's name", lambda value: isinstance(value, str)),
        "strict": ("true or false", lambda value: isinstance(value, bool)),
    }
)
"""Each key with what its value is, in words, and whether a value is that."""


@cache
def settings_near(folder: Path) -> Settings:
    """Return the settings of the nearest pyproject.toml that has any, in this folder or above it.

    Raises:
        QPolicyError: That file cannot be read, or holds a setting that there is not.
    """
    for place in (folder.absolute(), *folder.absolute().parents):
        table = _table(place / FILE)
        if table is not None:
            return Settings({key: _checked(place, key, value) for key, value in table.items()}, place / FILE)
    return Settings()


def _table(path: Path) -> Mapping[str, Any] | None:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise QPolicyError(f"{path}: cannot read this file: {error.strerror or error}") from error
    import tomllib  # noqa: PLC0415 - most policies lie where no such file is

    try:
        found = tomllib.loads(data.decode()).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise QPolicyError(f"{path}: not a TOML file: {error}") from error
    table = found.get("qpolicy") if isinstance(found, dict) else None
    if table is not None and not isinstance(table, dict):
        raise QPolicyError(f"{path}: {TABLE} is not a table; write the line [{TABLE}] and settings below it")
    return table


def _checked(folder: Path, key: str, value: object) -> object:
    if key not in SETTINGS:
        near = get_close_matches(key, SETTINGS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"the settings are {', '.join(SETTINGS)}"
        raise QPolicyError(f"{folder / FILE}: {TABLE} has no setting '{key}'; {hint}")
    what, fits = SETTINGS[key]
    if not fits(value):
        raise QPolicyError(f"{folder / FILE}: {TABLE}.{key} must be {what}")
    if key == "policy" and isinstance(value, str) and not value.startswith(BUILTIN):
        return str(folder / value)
    return value
