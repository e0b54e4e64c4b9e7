"""From an engine's name to the stored name it stands for.

A target's names are the stored ones already, as far as the engines' model classes keep them. A draft's names are
translated by the row of its class in ``draft_names.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import BindError


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
    """

    engine: str
    architectures: tuple[str, ...]
    draft_class: str
    source: str
    names: tuple[tuple[str, tuple[str, ...]], ...]
    list_substr: Mapping[str, str]


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
        )
        for row in table["draft"]
    )


def draft_row(engine: str, architectures: Iterable[str]) -> DraftRow | None:
    """Return the row for a checkpoint's architectures, or None when the table has none."""
    wanted = set(architectures)
    return next((row for row in draft_rows() if row.engine == engine and wanted & set(row.architectures)), None)


def stored_name(row: DraftRow | None, checkpoint: Checkpoint, asked: str, is_stored: Callable[[str], bool]) -> str:
    """Translate a draft's name into the stored one.

    Args:
        row: The draft's row, or None when the architecture has none.
        checkpoint: The checkpoint that stores the draft.
        asked: The name as the engine asks it, or a name in the stored spelling.
        is_stored: Whether anything on disk goes by a stored name.

    Returns:
        The stored name, whether or not anything is stored under it.

    Raises:
        BindError: There is no row, or the row does not cover the name.
    """
    # A checkpoint that stores no draft scope of its own is a standalone draft: its names are the stored ones.
    if checkpoint.is_draft_name(asked) or not checkpoint.draft_modules:
        return asked
    if row is None:
        raise BindError(
            f"{asked}: the draft names of architecture {_architectures(checkpoint)} are not known, so this name cannot "
            "be translated into a stored one; ask in the stored spelling (for instance mtp.layers.0...)"
        )
    candidates = _candidates(row, checkpoint, asked)
    if not candidates:
        known = ", ".join(prefix for prefix, _ in row.names)
        raise BindError(f"{asked}: {row.draft_class} asks no such name; it asks names under {known}")
    return next((name for name in candidates if is_stored(name)), candidates[0])


def asked_name(row: DraftRow | None, checkpoint: Checkpoint, stored: str) -> str:
    """Return the name under which a draft asks for a stored module (the reverse of :func:`stored_name`)."""
    if row is None:
        return stored
    pairs = [
        (prefix, asks)
        for asks, prefixes in row.names
        for prefix in _filled(prefixes, checkpoint)
        if _under(stored, prefix)
    ]
    if not pairs:
        return stored
    prefix, asks = max(pairs, key=lambda pair: len(pair[0]))
    return asks + stored[len(prefix) :]


def _candidates(row: DraftRow, checkpoint: Checkpoint, asked: str) -> tuple[str, ...]:
    fitting = [(asks, stored) for asks, stored in row.names if _under(asked, asks)]
    if not fitting:
        return ()
    asks, stored = max(fitting, key=lambda pair: len(pair[0]))
    return tuple(prefix + asked[len(asks) :] for prefix in _filled(stored, checkpoint))


def _filled(prefixes: Iterable[str], checkpoint: Checkpoint) -> tuple[str, ...]:
    return tuple(prefix.replace("{N}", str(checkpoint.num_hidden_layers)) for prefix in prefixes)


def _under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def _architectures(checkpoint: Checkpoint) -> str:
    return ", ".join(checkpoint.architectures) or "(none named in config.json)"
