"""The names that an engine compares with its list for one layer: shards, experts, or the layer's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qpolicy.bind import Ask
from qpolicy.native.records import Kind, Record

Unit = tuple[str, str]
"""A name and the kind that it is asked as."""


def units(ask: Ask, record: Record, packed: Mapping[str, Sequence[str]]) -> tuple[Unit, ...]:
    """Return every name that has to be excluded for a layer to be.

    Args:
        ask: The layer.
        record: How the engine reads the list.
        packed: The fused families that the model declares.
    """
    plan = record.kinds.get(ask.kind, Kind())
    if plan.asked_as:
        return tuple((ask.name + suffix, "linear") for suffix in plan.asked_as)
    leaf = ask.name.rpartition(".")[2]
    family = record.packed.get(leaf) or packed.get(leaf) or record.fallback.get(leaf)
    if family and any("shard" in step for step in record.steps):
        return tuple((ask.name.replace(leaf, shard), ask.kind) for shard in family)
    return ((ask.name, ask.kind),)


def members(ask: Ask) -> tuple[str, ...]:
    """Return the stored modules of a layer in the spelling that the engine asks it in."""
    stem = ask.stored.rpartition(".")[0] if ask.kind != "moe" else ask.stored
    asked = ask.name.rpartition(".")[0] if ask.kind != "moe" else ask.name
    return tuple(
        asked + module.name[len(stem) :] if module.name.startswith(f"{stem}.") else module.name
        for module in ask.modules
    )
