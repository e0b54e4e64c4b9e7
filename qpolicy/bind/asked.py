"""The names that an engine will ask about, worked out from what is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qpolicy.bind.matcher import Matcher
from qpolicy.bind.names import asked_name
from qpolicy.bind.world import World
from qpolicy.checkpoint import Checkpoint, StoredModule

_ASKED_KINDS = frozenset({"linear", "moe", "lm_head", "embedding"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One name that the engine is expected to ask about.

    Attributes:
        name: The engine's name.
        stored: The same name in the stored spelling.
        kind: What kind of layer it is.
        modules: The stored modules behind it.
    """

    name: str
    stored: str
    kind: str
    modules: tuple[StoredModule, ...]


def askers(checkpoint: Checkpoint, *, standalone: bool = False) -> tuple[bool, ...]:
    """Return what an engine builds from a checkpoint: False for its target, True for its draft.

    Args:
        checkpoint: The checkpoint.
        standalone: The checkpoint is a draft of its own and holds no target.
    """
    if standalone:
        return (True,)
    return (False, True) if checkpoint.draft_modules else (False,)


def asks(matcher: Matcher) -> tuple[Ask, ...]:
    """Return what the engine will ask while it builds the matcher's target or draft, in file order.

    The fused families and containers are those of the matcher's packed mapping. Which of these layers a model class
    builds without asking anybody is not known here.
    """
    world = matcher.binding.world
    groups: dict[str, list[StoredModule]] = {}
    for module in _built(world):
        groups.setdefault(layer_name(world, module.name), []).append(module)
    return tuple(_ask(world, stored, modules) for stored, modules in groups.items())


def layer_name(world: World, stored: str) -> str:
    """Return the layer that a stored module becomes part of, in the stored spelling.

    A projection is taken to be fused only where at least two parts of the fused layer are on disk.
    """
    container = world.stored.container(stored)
    if container is not None:
        return container
    for fused in world.stored.fused(stored):
        if fused not in world.stored.modules and len(world.stored.members(fused)) > 1:
            return fused
    return stored


def _built(world: World) -> Iterable[StoredModule]:
    checkpoint = world.checkpoint
    if checkpoint is None:
        return ()
    modules = (module for module in checkpoint.modules.values() if module.kind in _ASKED_KINDS)
    if world.draft and not checkpoint.draft_modules:
        return modules
    built = [module for module in modules if checkpoint.is_draft_name(module.name) == world.draft]
    return [*built, *_shared_heads(world, built)]


def _shared_heads(world: World, built: list[StoredModule]) -> Iterable[StoredModule]:
    """Return the target's head, which a draft without one of its own asks for as well."""
    if world.row is None or any(module.kind == "lm_head" for module in built):
        return ()
    heads = dict.fromkeys(stored for _, prefixes in world.row.names for stored in prefixes)
    found = (world.stored.modules.get(name) for name in heads)
    return [module for module in found if module is not None and module.kind == "lm_head"]


def _ask(world: World, stored: str, modules: list[StoredModule]) -> Ask:
    checkpoint = world.checkpoint
    name = asked_name(world.row, checkpoint, stored) if checkpoint is not None else stored
    return Ask(name, stored, modules[0].kind or "linear", tuple(modules))
