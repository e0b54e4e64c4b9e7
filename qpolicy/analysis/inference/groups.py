"""Groups of modules that every reader knows by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

_ROUTERS = frozenset(
    {"gate", "router", "wg", "gate_score", "shared_expert_gate", "shared_experts_gate", "block_sparse_moe_gate"}
)
_ROUTER_PARTS = frozenset({"proj", "layer", "gate", "classifier"})
_TOWERS = {
    "vision": frozenset(
        {"visual", "vision_tower", "vision_model", "vision_encoder", "vision_embed_tokens", "vit", "vision"}
    ),
    "audio": frozenset({"audio_tower", "audio_model", "audio_encoder", "audio", "thinker_audio"}),
}
_TOWER_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Group:
    """A group of modules.

    Attributes:
        name: What the policy calls the set.
        holds: Whether a module belongs to it.
        root: Returns the name of the part of the model that a module of the group is in, where the group is such parts;
            None for a group of modules that lie here and there.
    """

    name: str
    holds: Callable[[str], bool]
    root: Callable[[str], str] | None = None


def _is_router(name: str) -> bool:
    segments = name.split(".")
    return segments[-1] in _ROUTERS or (segments[-1] in _ROUTER_PARTS and "router" in segments[-2:-1])


def _tower(name: str) -> Group:
    words = _TOWERS[name]

    def holds(module: str) -> bool:
        return not words.isdisjoint(module.split(".")[:_TOWER_DEPTH])

    def root(module: str) -> str:
        segments = module.split(".")
        return ".".join(segments[: next(at for at, segment in enumerate(segments) if segment in words) + 1])

    return Group(name, holds, root)


GROUPS: tuple[Group, ...] = (Group("routers", _is_router), *map(_tower, _TOWERS))
"""The groups, in the order in which a policy names them."""


def group_of(name: str) -> Group | None:
    """Return the group that a module belongs to, or None; a router inside a tower belongs to the tower."""
    return next((group for group in reversed(GROUPS) if group.holds(name)), None)


def groups_in(names: Iterable[str]) -> set[str]:
    """Return the names of the groups that some of these modules belong to."""
    return {group.name for group in map(group_of, names) if group is not None}
