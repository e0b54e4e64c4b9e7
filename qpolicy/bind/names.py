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
from typing import TYPE_CHECKING

from qpolicy.bind.draft_layers import draft_layer
from qpolicy.errors import BindError

if TYPE_CHECKING:
    from qpolicy.checkpoint import Checkpoint


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
        standalone: Whether such a draft has a checkpoint of its own.
        unchecked: Why the row is not compared with the real class; empty for a row that is.
    """

    engine: str
    architectures: tuple[str, ...]
    draft_class: str
    source: str
    names: tuple[tuple[str, tuple[str, ...]], ...]
    list_substr: Mapping[str, str]
    standalone: bool = False
    unchecked: str = ""


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
            standalone=row.get("standalone", False),
            unchecked=row.get("unchecked", ""),
        )
        for row in table["draft"]
    )


def draft_row(engine: str, architectures: Iterable[str]) -> DraftRow | None:
    """Return the row for a checkpoint's architectures, or None when the table has none."""
    wanted = set(architectures)
    return next((row for row in draft_rows() if row.engine == engine and wanted & set(row.architectures)), None)


def stored_name(
    row: DraftRow | None, checkpoint: Checkpoint, asked: str, is_stored: Callable[[str], bool], layer: int = 0
) -> str:
    """Translate a draft's name into the stored one.

    Args:
        row: The draft's row, or None when the architecture has none.
        checkpoint: The checkpoint that stores the draft.
        asked: The name as the engine asks it, or a name in the stored spelling.
        is_stored: Whether anything on disk goes by a stored name.
        layer: The number of the draft layer that is built, of a draft that has several.

    Returns:
        The stored name, whether or not anything is stored under it.

    Raises:
        BindError: There is no row, or the row does not cover the name.
    """
    standalone = not checkpoint.draft_modules
    # A standalone draft that no row describes has the stored names.
    if (standalone and not (row and row.standalone)) or _stands_as_stored(row, checkpoint, asked, is_stored):
        return asked
    if row is None:
        raise BindError(
            f"{asked}: the draft names of architecture {_architectures(checkpoint)} are not known, so this name cannot "
            "be translated into a stored one; ask in the stored spelling (for instance mtp.layers.0...)"
        )
    candidates = stored_candidates(row, asked, checkpoint.num_hidden_layers, layer)
    if not candidates and (checkpoint.is_draft_name(asked) or (standalone and is_stored(asked))):
        return asked
    if not candidates:
        known = ", ".join(prefix for prefix, _ in row.names)
        raise BindError(f"{asked}: {row.draft_class} asks no such name; it asks names under {known}")
    return next((name for name in candidates if is_stored(name)), candidates[0])


def asked_name(row: DraftRow | None, checkpoint: Checkpoint, stored: str) -> str:
    """Return the name under which a draft asks for a stored module (the reverse of :func:`stored_name`)."""
    if row is None:
        return stored
    pairs = _prefixes_over(row, checkpoint.num_hidden_layers, stored)
    if not pairs:
        return stored
    prefix, asks = max(pairs, key=lambda pair: len(pair[0]))
    return _moved(stored, prefix, _fill(asks, checkpoint.num_hidden_layers, 0))


def stored_candidates(row: DraftRow, asked: str, last: int | None, layer: int = 0) -> tuple[str, ...]:
    """Return the stored names that a draft's name may stand for, the likeliest first; empty when it asks no such name.

    Args:
        row: The draft's row.
        asked: The name as the engine asks it.
        last: The target's number of layers, or None where the config does not say.
        layer: The number of the draft layer that is built.
    """
    filled = [(_fill(asks, last, layer), stored) for asks, stored in row.names]
    fitting = [(asks, stored) for asks, stored in filled if _under(asked, asks)]
    if not fitting:
        return ()
    asks, stored = max(fitting, key=lambda pair: len(pair[0]))
    return tuple(_moved(asked, asks, prefix) for prefix in _filled(stored, last, layer))


def _stands_as_stored(
    row: DraftRow | None, checkpoint: Checkpoint, asked: str, is_stored: Callable[[str], bool]
) -> bool:
    """Whether a draft's name is a stored one; some classes ask by names that only look like one (model.mtp_block)."""
    if not checkpoint.is_draft_name(asked):
        return False
    return row is None or is_stored(asked) or bool(_prefixes_over(row, checkpoint.num_hidden_layers, asked))


def _prefixes_over(row: DraftRow, last: int | None, stored: str) -> list[tuple[str, str]]:
    """Return the stored prefixes that a stored name stands under, each with the one that is asked in its place."""
    layer = draft_layer(row, last, stored) or 0
    return [
        (prefix, asks)
        for asks, prefixes in row.names
        for prefix in _filled(prefixes, last, layer)
        if _under(stored, prefix)
    ]


def _filled(prefixes: Iterable[str], last: int | None, layer: int) -> tuple[str, ...]:
    return tuple(_fill(prefix, last, layer) for prefix in prefixes)


def _fill(prefix: str, last: int | None, layer: int) -> str:
    values = {"{N}": last, "{I}": layer, "{N+I}": None if last is None else last + layer}
    for placeholder, value in values.items():
        prefix = prefix.replace(placeholder, str(value))
    return prefix


def _moved(name: str, prefix: str, other: str) -> str:
    """Exchange the prefix of a name; an empty one takes its dot with it."""
    rest = name[len(prefix) :].removeprefix(".")
    return ".".join(part for part in (other, rest) if part)


def _under(name: str, prefix: str) -> bool:
    return not prefix or name == prefix or name.startswith(prefix + ".")


def _architectures(checkpoint: Checkpoint) -> str:
    return ", ".join(checkpoint.architectures) or "(none named in config.json)"
