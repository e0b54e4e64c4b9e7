"""What an engine asks while it builds a known architecture: the packaged table of architectures, as data.

The table is written from what the engine's own model classes do (``scripts/make_architectures.py``); reading it needs
no engine. Layer numbers in it are folded to ``{N}``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from qpolicy.native.versions import engine_and_version, lies_between

Row: TypeAlias = Mapping[str, Any]
"""One row as it is stored."""

_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")
_ROOTS = ("model.language_model.", "language_model.model.", "language_model.", "model.", "backbone.", "")
"""How text models are rooted on disk and in an engine; a name below one of them means the same below another."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """What one model class asks.

    Attributes:
        model_class: The engine's class.
        asked: The names that ask the quantization config, folded, with the kind of each layer.
        unasked: The names of layers that are built without asking, folded, with the kind of each layer.
        packed: Fused name to the names of its parts, as the class declares it when lists are read.
        prefixes: Prefixes of stored names that the class's mapper rewrites, and what they become.
    """

    model_class: str
    asked: Mapping[str, str]
    unasked: Mapping[str, str]
    packed: Mapping[str, tuple[str, ...]]
    prefixes: Mapping[str, str]

    def asks(self, names: Iterable[str]) -> bool | None:
        """Whether a layer asks, by any of the names that it goes by; None when the table does not say.

        Args:
            names: The engine's name of a layer and the names of the fused layers that it may be part of.
        """
        folded = {fold(name) for name in names}
        if not folded.isdisjoint(self.asked):
            return None if not folded.isdisjoint(self.unasked) else True
        return None if folded.isdisjoint(self.unasked) else False

    def spellings(self, name: str) -> tuple[str, ...]:
        """Return the names that a target's stored name may have inside the engine, the same name first."""
        mapped = [new + name[len(old) :] for old, new in self.prefixes.items() if name.startswith(old)]
        start = next(root for root in _ROOTS if name.startswith(root))
        return tuple(dict.fromkeys((name, *mapped, *(root + name[len(start) :] for root in _ROOTS))))


def fold(name: str) -> str:
    """Replace every number that is a whole segment of a name by ``{N}``."""
    return _NUMBER.sub("{N}", name)


def architecture(engine: str, architectures: Iterable[str], draft_class: str | None = None) -> Architecture | None:
    """Return what is known about a checkpoint's architecture, or None when the table lacks it.

    Args:
        engine: The engine's name, perhaps with a version. The table is of one version; for an earlier one its fused
            families are replaced by those that ``earlier.toml`` has, and the rest is taken to be the same.
        architectures: The ``architectures`` of the checkpoint's config.
        draft_class: The engine's class for the draft, when the draft is meant; None for the target.
    """
    table = _table()
    who, version = engine_and_version(engine)
    if who != table["engine"]:
        return None
    rows: Mapping[str, Mapping[str, Row]] = table["architectures"]
    if draft_class is None:
        found = (rows[arch]["target"] for arch in architectures if "target" in rows.get(arch, {}))
    else:
        own = [rows[arch]["draft"] for arch in architectures if "draft" in rows.get(arch, {})]
        found = (row for row in (*own, *_drafts()) if row["class"] == draft_class)
    row = next(iter(found), None)
    return None if row is None else _as_of(_read(row), version)


def known_architectures() -> tuple[str, ...]:
    """Return the architectures that the table has."""
    return tuple(_table()["architectures"])


def _as_of(found: Architecture, version: str) -> Architecture:
    """Return an architecture as a version of the engine had it; the empty version is the table's own."""
    for row in _earlier():
        if found.model_class in row["classes"] and lies_between(version, "", row["until"]):
            return replace(found, packed={fused: tuple(parts) for fused, parts in row["packed"].items()})
    return found


def _read(row: Row) -> Architecture:
    return Architecture(
        model_class=row["class"],
        asked=row["asked"],
        unasked=row["unasked"],
        packed={fused: tuple(parts) for fused, parts in row["packed"].items()},
        prefixes={old: new or "" for old, new in row["mapper"].get("prefix", {}).items()},
    )


@cache
def _table() -> dict[str, Any]:
    path = Path(__file__).parents[1] / "sglang" / "architectures.json"
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table


@cache
def _earlier() -> tuple[Row, ...]:
    """Return what classes declared in earlier versions, the oldest first."""
    text = Path(__file__).with_name("earlier.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["declared"])


@cache
def _drafts() -> tuple[Row, ...]:
    return tuple(row["draft"] for row in _table()["architectures"].values() if "draft" in row)
