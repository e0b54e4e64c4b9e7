"""Which modules an engine may build without asking the quantization config."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from qpolicy.bind.world import World
from qpolicy.paths import Pattern, PatternIndex


def built_unasked(world: World, stored: str) -> bool | None:
    """Whether the engine builds a stored module without asking anybody.

    Args:
        world: The checkpoint and the asker.
        stored: The module's stored name.

    Returns:
        False for a module that engines ask about, None where it depends on the model class: routers, and the
        projections that join a draft's inputs.
    """
    del world  # the architecture's own table, once there is one, will know for sure
    return None if _often_unasked().matches(stored) else False


@cache
def _often_unasked() -> PatternIndex:
    table = tomllib.loads(Path(__file__).with_name("unasked.toml").read_text(encoding="utf-8"))
    return PatternIndex([[Pattern.parse(text) for text in table["patterns"]]])
