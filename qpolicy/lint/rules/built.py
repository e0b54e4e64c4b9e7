"""What the engine would build for a layer, told in the same words by every finding that compares it with the disk."""

from __future__ import annotations

from qpolicy.bind.unasked import built_unasked
from qpolicy.checkpoint import StoredModule
from qpolicy.lint.view import Layer, View

_SHOWN = 3


def unasked(view: View, layer: Layer) -> bool | None:
    """Whether the engine builds a layer plain without asking anybody; None where that is not known for its class."""
    worlds = (matcher.binding.world for matcher in view.matchers)
    return next(built_unasked(world, layer.ask.stored) for world in worlds if world.draft == layer.draft)


def outcome(view: View, layer: Layer) -> str | None:
    """Return what the engine would build: by the policy, or by the checkpoint's list where there is no policy.

    A layer that it builds without asking is plain, whatever policy and list say.
    """
    if layer.ask.modules and unasked(view, layer):
        return "unquantized"
    if view.policy is not None or layer.decision.native is None:
        return layer.decision.outcome
    return layer.decision.native.outcome


def decided_by(view: View, layer: Layer) -> str:
    """Say which rule or which part of the list decides a layer."""
    decision = layer.decision
    if unasked(view, layer):
        return f"{view.engine} builds this layer without asking the list or the policy"
    if view.policy is not None and decision.rule is not None and decision.action != "native":
        return f"decided by {decision.rule.place}: {decision.rule.text}"
    why = decision.native.why if decision.native is not None else decision.reason
    return f"decided by the checkpoint's own list: {why}"


def evidence(modules: tuple[StoredModule, ...]) -> str:
    """Say what is on disk for some modules, each different state once."""
    states: dict[str, list[str]] = {}
    for module in modules:
        states.setdefault(module.evidence, []).append(module.name)
    told = [f"{_names(names)} {state}" for state, names in states.items()]
    more = f"; and {len(told) - _SHOWN} more states" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more have"
