"""The layers of a draft that an engine builds one by one, each as a model of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qpolicy.bind.names_table import DraftRow
    from qpolicy.checkpoint import Checkpoint

_COUNTED = ("{N+I}", "{I}")


def draft_layers(row: DraftRow | None, checkpoint: Checkpoint) -> tuple[int, ...]:
    """Return the numbers of the draft layers that are stored, in order.

    Args:
        row: The draft's row, or None when the architecture has none.
        checkpoint: The checkpoint that stores the draft.

    Returns:
        ``(0,)`` for a draft that the engine builds as a whole.
    """
    if row is None:
        return (0,)
    found = (draft_layer(row, checkpoint.num_hidden_layers, module.name) for module in checkpoint.draft_modules)
    return tuple(sorted({layer for layer in found if layer is not None})) or (0,)


def built_by_layer(row: DraftRow | None) -> bool:
    """Whether the engine builds each layer of such a draft as a model of its own."""
    return row is not None and any(mark in prefix for _, stored in row.names for prefix in stored for mark in _COUNTED)


def draft_layer(row: DraftRow, last: int | None, stored: str) -> int | None:
    """Return the draft layer that a stored module is part of.

    Args:
        row: The draft's row.
        last: The target's number of layers, or None where the config does not say.
        stored: The module's stored name.

    Returns:
        The layer's number; None for a module of no single layer, such as a shared head, and for every module of a
        draft that the engine builds as a whole.
    """
    found = (_counted(prefix, last, stored) for _, prefixes in row.names for prefix in prefixes)
    return next((layer for layer in found if layer is not None), None)


def _counted(prefix: str, last: int | None, stored: str) -> int | None:
    mark = next((mark for mark in _COUNTED if mark in prefix), None)
    if mark is None:
        return None
    head, _, tail = prefix.partition(mark)
    number = stored.removeprefix(head).partition(".")[0]
    if not stored.startswith(f"{head}{number}{tail}") or not (number.isascii() and number.isdigit()):
        return None
    layer = int(number) if mark == "{I}" else -1 if last is None else int(number) - last
    return layer if layer >= 0 else None
