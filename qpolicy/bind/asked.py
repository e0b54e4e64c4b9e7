"""The names that an engine will ask about, worked out from what is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qpolicy.bind.decision import Decision
from qpolicy.bind.draft_layers import draft_layer, draft_layers
from qpolicy.bind.matcher import Matcher
from qpolicy.bind.names import asked_name
from qpolicy.bind.world import World
from qpolicy.checkpoint import Checkpoint, StoredModule
from qpolicy.errors import BindError

_ASKED_KINDS = frozenset({"linear", "moe", "lm_head", "embedding"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One name that the engine is expected to ask about.

    Attributes:
        name: The engine's name.
        stored: The same name in the stored spelling.
        kind: What kind of layer it is.
        modules: The stored modules behind it.
        draft_layer: The number of the draft layer that asks, of a draft that the engine builds layer by layer.
    """

    name: str
    stored: str
    kind: str
    modules: tuple[StoredModule, ...]
    draft_layer: int = 0


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
    builds without asking anybody is not known here. Of a draft that is built layer by layer, every stored layer asks:
    :func:`decision_of` decides each for its own tensors.
    """
    world = matcher.binding.world
    groups: dict[str, list[StoredModule]] = {}
    for module in _built(world):
        groups.setdefault(layer_name(world, module.name), []).append(module)
    return tuple(_ask(world, stored, modules) for stored, modules in groups.items())


def decision_of(matcher: Matcher, ask: Ask) -> Decision:
    """Return the decision for one of the layers that :func:`asks` returned for a matcher."""
    return matcher.at(ask.draft_layer).decide(ask.name, kind=ask.kind)


def layers_of(matcher: Matcher) -> tuple[Matcher, ...]:
    """Return the matcher of each stored layer of a draft that is built layer by layer; else the matcher itself."""
    world = matcher.binding.world
    if world.checkpoint is None or world.row is None:
        return (matcher,)
    return tuple(matcher.at(layer) for layer in draft_layers(world.row, world.checkpoint))


def decisions_of(matcher: Matcher, module: str, kind: str | None = None) -> tuple[Decision, ...]:
    """Decide one name as each layer of a draft that is built layer by layer asks it.

    Args:
        matcher: The matcher.
        module: The name as the engine asks it, or a stored name.
        kind: As for :meth:`Matcher.decide`.

    Returns:
        A decision for each layer by which the name reaches other tensors, or one where it is the same for all.
    """
    try:
        reached = {one.members(module): one for one in reversed(layers_of(matcher))}
    except BindError:
        return (matcher.decide(module, kind=kind),)
    stored = [one for members, one in reversed(reached.items()) if members]
    return tuple(one.decide(module, kind=kind) for one in stored or [matcher])


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
    checkpoint, kind = world.checkpoint, modules[0].kind or "linear"
    if checkpoint is None or world.row is None:
        return Ask(stored, stored, kind, tuple(modules))
    name = asked_name(world.row, checkpoint, stored)
    layer = draft_layer(world.row, checkpoint.num_hidden_layers, stored)
    return Ask(name, stored, kind, tuple(modules), layer or 0)
