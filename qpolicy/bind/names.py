"""From the name that an engine gives a draft's module to the stored one, and back: by its row in the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from qpolicy.bind.draft_layers import draft_layer
from qpolicy.bind.names_table import DraftRow
from qpolicy.errors import BindError

if TYPE_CHECKING:
    from qpolicy.checkpoint import Checkpoint


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
    last = checkpoint.num_hidden_layers
    pairs = _prefixes_over(row, last, stored)
    if not pairs:
        return stored
    prefix, asks = max(pairs, key=lambda pair: len(pair[0]))
    return _exchanged(_moved(stored, prefix, _fill(asks, last, 0)), [(new, old) for old, new in row.renames])


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
    moved = [_moved(asked, asks, prefix) for prefix in _filled(stored, last, layer)]
    return tuple(dict.fromkeys(name for one in moved for name in (_exchanged(one, row.renames), one)))


def _stands_as_stored(
    row: DraftRow | None, checkpoint: Checkpoint, asked: str, is_stored: Callable[[str], bool]
) -> bool:
    """Whether a draft's name is a stored one; some classes ask by names that only look like one (model.mtp_block)."""
    if not checkpoint.is_draft_name(asked):
        return False
    return row is None or is_stored(asked) or bool(_prefixes_over(row, checkpoint.num_hidden_layers, asked))


def _exchanged(name: str, renames: Iterable[tuple[str, str]]) -> str:
    """Exchange the longest run of whole segments that a name has of those that are renamed."""
    fitting = [(old, new) for old, new in renames if f".{old}." in f".{name}."]
    if not fitting:
        return name
    old, new = max(fitting, key=lambda pair: len(pair[0]))
    return f".{name}.".replace(f".{old}.", f".{new}.", 1)[1:-1]


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
