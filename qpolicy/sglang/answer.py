"""Answers for one layer: what the policy decides, with SGLang's own methods."""

from __future__ import annotations

from typing import Any

from qpolicy.bind import Decision
from qpolicy.sglang import compat
from qpolicy.sglang.as_quantized import with_scheme, without_exclusions
from qpolicy.sglang.building import Asked, Build, current
from qpolicy.sglang.compare import compare, engine_failure, fused_text
from qpolicy.sglang.names import stored_spelling
from qpolicy.sglang.own_class import base_class
from qpolicy.sglang.session import Session
from qpolicy.sglang.stop import PolicyStop


def answer(session: Session, config: Any, layer: Any, prefix: str) -> Any:
    """Return the method for a layer that asks its config.

    Args:
        session: The policy, bound.
        config: The config that is asked.
        layer: The layer under construction.
        prefix: The name that SGLang gives it.

    Returns:
        SGLang's method, or None where the layer's constructor fills in its own unquantized one.

    Raises:
        PolicyStop: The layer must not be built, or SGLang itself raised; the message names the layer.
    """
    build = current() or Build(session)
    kind = compat.kind_of(layer)
    if kind is None or not prefix:
        return _undecided(build, config, layer, prefix, kind)
    decision = decide(build, config, prefix, kind, shared=compat.fuses_shared(layer))
    if compat.is_probe(layer):
        return _method(build, decision, config, layer, prefix)
    if decision.outcome == "error":
        build.stop(refused(decision, prefix))
    method = _method(build, decision, config, layer, prefix)
    note(build, layer, prefix, kind, method, decision)
    compare(build, decision, prefix, method, layer, config)
    return method


def linear_unquantized(session: Session, config: Any, prefix: str) -> Any:
    """Answer whether a linear layer that is not there yet will stay unquantized."""
    decision = decide(current() or Build(session), config, prefix, "linear")
    if decision.action in ("unquantized", "quantized"):
        return decision.action == "unquantized"
    return base_class(config).is_linear_unquantized(config, prefix)


def decide(build: Build, config: Any, prefix: str, kind: str, *, shared: bool = False) -> Decision:
    """Decide one layer, and log what is worth a warning.

    Args:
        build: The model under construction.
        config: The config that is asked, or None.
        prefix: The name that SGLang gives the layer.
        kind: The layer's kind.
        shared: Whether the shared experts are built into it.
    """
    packed = compat.packed_mapping(config, build.model_class)
    matcher = build.session.matcher(packed)
    decision = matcher.decide(stored_spelling(build, matcher, prefix), kind=kind, shared=shared)
    for warning in decision.warnings:
        build.tell(warning)
    return decision


def note(build: Build, layer: Any, prefix: str, kind: str | None, method: Any, decision: Decision | None) -> None:
    """Put a layer on the list of those decided."""
    build.asked.append(Asked(prefix, type(layer).__name__, kind, type(method).__name__, decision))


def note_unnamed(build: Build, layer: Any, kind: str | None, method: Any) -> None:
    """Put a layer to which the model gives no name on the list; it is worth a warning where it is packed."""
    note(build, layer, "", kind, method, None)
    if not compat.is_plain(method) and compat.owns_weights(method):
        build.tell(f"a {type(layer).__name__} with packed weights is built without a name, so no rule can speak of it")


def refused(decision: Decision, prefix: str) -> str:
    """Return the message for a decision that is an error."""
    rule = f"\n  rule: {decision.rule}" if decision.rule else ""
    return f"{prefix} must not be built: {decision.reason}{rule}{fused_text(decision)}"


def _undecided(build: Build, config: Any, layer: Any, prefix: str, kind: str | None) -> Any:
    method = _asked(build, None, config, layer, prefix)
    if not prefix and not compat.is_probe(layer):
        note_unnamed(build, layer, kind, method)
    elif prefix:
        note(build, layer, prefix, kind, method, None)
    return method


def _method(build: Build, decision: Decision, config: Any, layer: Any, prefix: str) -> Any:
    if decision.action == "unquantized":
        return compat.plain_method(decision.kind)
    if decision.action == "quantized":
        return _quantized(build, decision, config, layer, prefix)
    return _asked(build, decision, config, layer, prefix)


def _quantized(build: Build, decision: Decision, config: Any, layer: Any, prefix: str) -> Any:
    scheme = decision.scheme
    asked = without_exclusions(config) if scheme is None else with_scheme(config, scheme, prefix)
    if asked is None:
        build.stop(
            f"{prefix}: {base_class(config).__name__} has no scheme '{scheme}' to give it\n  rule: {decision.rule}"
        )
        return _asked(build, decision, config, layer, prefix)
    method = _asked(build, decision, asked, layer, prefix)
    if compat.is_plain(method) and not compat.is_probe(layer):
        build.stop(
            f"{prefix} cannot be quantized: {base_class(config).__name__} has no scheme for this "
            f"{type(layer).__name__}, even without its exclusions\n  rule: {decision.rule}\n"
            "  fix: decide it 'unquantized' or 'native'"
        )
    return method


def _asked(build: Build, decision: Decision | None, config: Any, layer: Any, prefix: str) -> Any:
    """Ask SGLang's own class, never a bound method: a config may be a copy with a list of its own."""
    base = base_class(config)
    try:
        return base.get_quant_method(config, layer, prefix)
    except PolicyStop:
        raise
    except Exception as error:
        raised = f"SGLang's {base.__name__} raised {type(error).__name__}: {error}"
        where = f"{prefix or 'a layer without a name'} ({type(layer).__name__})"
        raise PolicyStop(f"{where}: {raised}{engine_failure(build, decision)}") from error
