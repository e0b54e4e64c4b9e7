"""Which modules an engine builds without asking the quantization config."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from qpolicy.bind.architectures import fold
from qpolicy.bind.names import asked_name
from qpolicy.bind.target_names import target_asked_names
from qpolicy.bind.world import World
from qpolicy.paths import Pattern, PatternIndex


def built_unasked(world: World, stored: str) -> bool | None:
    """Whether the engine builds a stored module without asking anybody.

    Args:
        world: The checkpoint and the asker.
        stored: The module's stored name.

    Returns:
        What the table of architectures says. Where it does not say: False for a module that engines ask about, None
        where that depends on the model class, as it does for routers and for what joins a draft's inputs.
    """
    known = world.architecture
    asks = None if known is None else known.asks(_engine_names(world, stored))
    if asks is not None:
        return not asks
    return None if _often_unasked().matches(stored) else False


def _engine_names(world: World, stored: str) -> Iterator[str]:
    """Iterate over the names that the engine may have for a stored module or for the layer that it is part of."""
    for alias in world.stored.aliases(stored):
        if world.draft and world.checkpoint is not None:
            yield asked_name(world.row, world.checkpoint, alias)
        elif world.architecture is not None:
            yield from world.architecture.spellings(alias)
            yield from target_asked_names(world.engine_name, fold(alias))


@cache
def _often_unasked() -> PatternIndex:
    table = tomllib.loads(Path(__file__).with_name("unasked.toml").read_text(encoding="utf-8"))
    return PatternIndex([[Pattern.parse(text) for text in table["patterns"]]])
