"""Decides layers that do not ask the loader's config: built without one, with another, or with a given method."""

from __future__ import annotations

from typing import Any

from qpolicy.bind import Decision
from qpolicy.sglang import compat
from qpolicy.sglang.answer import decide, note, note_unnamed, refused
from qpolicy.sglang.building import Build
from qpolicy.sglang.compare import compare, source_text
from qpolicy.sglang.own_class import session_of
from qpolicy.sglang.wrap import wrapped_copy


def config_for(build: Build, layer: Any, given: Any, prefix: str, method: Any = None, *, shared: bool = False) -> Any:
    """Return the config with which a layer is to be constructed.

    Args:
        build: The model under construction.
        layer: The layer, not constructed yet.
        given: The config that the model passes, or None.
        prefix: The name that the model gives the layer.
        method: The method that the model passes, with which the layer asks nobody.
        shared: Whether the shared experts are built into it.

    Raises:
        PolicyStop: The layer must not be built.
    """
    if given is None or method is not None:
        return _without_asking(build, layer, given, prefix, method, shared)
    # The loader's config, or a copy of it, asks this policy already.
    return given if session_of(given) is build.session else wrapped_copy(given, build.session)


def _without_asking(build: Build, layer: Any, given: Any, prefix: str, method: Any, shared: bool) -> Any:
    kind = compat.kind_of(layer)
    if kind is None or kind == "attention" or compat.is_probe(layer):
        return given
    if not prefix:
        note_unnamed(build, layer, kind, method)
        return given
    decision = decide(build, build.config, prefix, kind, shared=shared)
    if decision.outcome == "error":
        build.stop(refused(decision, prefix))
    elif method is None and _was_nulled(build, decision):
        return build.config
    elif decision.action == "quantized" and compat.is_plain(method):
        build.stop(_cannot(build, decision, prefix, layer))
    elif decision.action == "unquantized" and not compat.is_plain(method):
        build.stop(f"{prefix}: the model itself gives it {type(method).__name__}\n  rule: {decision.rule}")
    note(build, layer, prefix, kind, method, decision)
    compare(build, decision, prefix, method, layer, given)
    return given


def _was_nulled(build: Build, decision: Decision) -> bool:
    """Whether to put the config back: the engine's own rule took it away, and a drop statement replaces that rule."""
    if build.config is None or not build.session.replaces_nulling or decision.action == "unquantized":
        return False
    if build.session.world.nulled is None:
        return False
    modules = build.session.members(decision)
    return bool(modules) and all(module.quantized for module in modules)


def _cannot(build: Build, decision: Decision, prefix: str, layer: Any) -> str:
    nulled = build.session.world.nulled
    why = nulled or f"the model builds this {type(layer).__name__} without a quantization config"
    fix = (
        "a 'drop' statement over the draft replaces that rule"
        if nulled and build.session.draft
        else ("decide it 'unquantized' or 'native'")
    )
    return f"{prefix} cannot be quantized: {why}\n  decided by: {source_text(decision)}\n  fix: {fix}"
