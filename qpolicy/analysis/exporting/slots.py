"""Where each dialect keeps its list."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one dialect's list.

    Attributes:
        keys: The keys of the list.
        config: The rest of a config of this dialect.
        mapping: The list is an object whose keys are the entries.
        mark: What an entry of it begins with.
    """

    keys: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    mapping: bool = False
    mark: str = ""

    def used(self, quantization: Mapping[str, Any], read: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the keys that a config gets the list under: those that it has, and one that the engine reads.

        Args:
            quantization: The config.
            read: The keys that the engine reads.
        """
        present = tuple(key for key in self.keys if key in quantization)
        wanted = tuple(key for key in self.keys if key in set(read)) or self.keys
        return present if set(present) & set(wanted) else (*present, wanted[0])

    def value(self, entries: Iterable[str], before: Any = None) -> Any:
        """Return the list as it stands in JSON.

        Args:
            entries: The entries.
            before: What stands there now; of an object, what excludes nothing is kept behind the entries.
        """
        if not self.mapping:
            return list(entries)
        kept = before if isinstance(before, Mapping) else {}
        return {entry: {} for entry in entries} | {
            key: value for key, value in kept.items() if not key.startswith(self.mark)
        }

    def filled(self, quantization: Mapping[str, Any], keys: Iterable[str], entries: Iterable[str]) -> dict[str, Any]:
        """Return a config with the list under these keys; the order of its keys stays."""
        found = list(entries)
        return {**quantization, **{key: self.value(found, quantization.get(key)) for key in keys}}


def _slots() -> Mapping[str, Slot]:
    table = tomllib.loads(Path(__file__).with_name("slots.toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: Slot(**{**row, "keys": tuple(row["keys"])}) for name, row in table.items()})


SLOTS: Mapping[str, Slot] = _slots()
"""Each dialect that can be written, by its name."""
