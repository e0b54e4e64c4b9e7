"""How engines' draft classes name their modules: the table of draft names, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DraftRow:
    """How one draft class of an engine names its modules.

    Attributes:
        engine: The engine's name.
        architectures: ``architectures`` entries of the checkpoints that hold such a draft.
        draft_class: The engine's class for the draft.
        source: Where the names were read: project, version, file.
        names: Pairs of the prefix that is asked and the stored prefixes that it may stand for.
        list_substr: What the class's mapper rewrites inside list entries.
        renames: Pairs of whole segments that are asked and those that are stored in their place.
        packed: Fused layers that only the stored spelling has, each with the last segments of its parts.
        unnumbered: Names that the layers of all blocks ask alike, so that nobody can tell which is meant.
        standalone: Whether such a draft has a checkpoint of its own.
    """

    engine: str
    architectures: tuple[str, ...]
    draft_class: str
    source: str
    names: tuple[tuple[str, tuple[str, ...]], ...]
    list_substr: Mapping[str, str] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    packed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unnumbered: tuple[str, ...] = ()
    standalone: bool = False


@cache
def draft_rows() -> tuple[DraftRow, ...]:
    """Return the whole table of draft names."""
    table = tomllib.loads((Path(__file__).with_name("draft_names.toml")).read_text(encoding="utf-8"))
    return tuple(
        DraftRow(
            engine=row["engine"],
            architectures=tuple(row["architectures"]),
            draft_class=row["draft_class"],
            source=row["source"],
            names=tuple((entry["asks"], tuple(entry["stored"])) for entry in row["names"]),
            list_substr=row.get("list_substr", {}),
            renames=tuple((entry["asks"], entry["stored"]) for entry in row.get("renames", ())),
            packed={fused: tuple(parts) for fused, parts in row.get("packed", {}).items()},
            unnumbered=tuple(row.get("unnumbered", ())),
            standalone=row.get("standalone", False),
        )
        for row in table["draft"]
    )


def draft_row(engine: str, architectures: Iterable[str]) -> DraftRow | None:
    """Return the row for a checkpoint's architectures, or None when the table has none."""
    wanted = set(architectures)
    return next((row for row in draft_rows() if row.engine == engine and wanted & set(row.architectures)), None)
