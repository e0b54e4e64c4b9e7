"""Compares the method that a layer gets with the tensors that will be loaded into it, before the layer is built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from qpolicy.bind import Decision
from qpolicy.bind.asked import layer_name
from qpolicy.bind.stored import is_shared
from qpolicy.checkpoint import StoredModule
from qpolicy.sglang import compat
from qpolicy.sglang.building import Build
from qpolicy.sglang.expected import expected_parameters
from qpolicy.sglang.loads import quantizes_online

_SHOWN = 3
_UNFUSE = "SGLang builds the shared experts into this layer; --disable-shared-experts-fusion builds them apart"


def compare(build: Build, decision: Decision, prefix: str, method: Any, layer: Any, config: Any) -> None:
    """Stop the load where a layer would be built packed for plain weights, or plain for packed ones.

    Args:
        build: The model under construction.
        decision: What was decided for the layer.
        prefix: The name that SGLang gives it.
        method: The method that it gets.
        layer: The layer.
        config: The config that was asked, or None.

    Raises:
        PolicyStop: They contradict each other, in strict mode.
    """
    if decision.kind == "attention" or not compat.owns_weights(method):
        return
    if build.uncompared:
        build.tell(f"layers are not compared with the disk: {build.uncompared}")
        return
    plain = compat.is_plain(method)
    wrong = [module for module in build.session.members(decision) if module.quantized is plain]
    if not wrong:
        return
    if not plain and quantizes_online(method, config, build.session.checkpoint):
        build.tell(f"not compared with the disk: {type(method).__name__} quantizes plain weights while they load")
        return
    build.stop(_contradiction(build, decision, prefix, wrong, plain, expected_parameters(layer, method)))


def stored_text(modules: Sequence[StoredModule]) -> str:
    """Return stored modules with their tensors' dtypes and shapes, the first few of them."""
    shown = "; ".join(f"{module.name} ({_tensors(module)})" for module in modules[:_SHOWN])
    more = len(modules) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def source_text(decision: Decision) -> str:
    """Return what decided: the rule, or the checkpoint's own list with the entries that count."""
    if decision.rule is not None and decision.action != "native":
        return f"rule {decision.rule}"
    if decision.native is None:
        return "SGLang's own answer; the checkpoint has no list that qpolicy reads"
    entries = ", ".join(f"{entry.where} '{entry.text}'" for entry in decision.native.entries[:_SHOWN])
    return f"the checkpoint's own list, {entries or 'no entry of which names the layer'} ({decision.native.why})"


def fused_text(decision: Decision) -> str:
    """Return what to do about shared experts that SGLang builds into a layer, as a further line; else nothing."""
    return f"\n  fix: {_UNFUSE}" if any(_beside(decision, member.name) for member in decision.members) else ""


def engine_failure(build: Build, decision: Decision | None) -> str:
    """Return what is known about a layer at which SGLang itself raised, as further lines of the message."""
    if decision is None:
        return ""
    modules = build.session.members(decision)
    lines = [f"on disk: {stored_text(modules) or 'no tensor of this name'}", f"decided by: {source_text(decision)}"]
    if modules and not any(module.quantized for module in modules):
        lines.append(f"fix: {_fix(build, decision, modules[0].name, plain=False)}")
    return "".join(f"\n  {line}" for line in lines)


def _contradiction(
    build: Build, decision: Decision, prefix: str, wrong: Sequence[StoredModule], plain: bool, expected: str
) -> str:
    built, stored = ("plain", "packed") if plain else ("packed", "plain")
    return (
        f"{prefix} would be built {built}, but its weights are {stored} on disk, so they cannot be loaded\n"
        f"  on disk: {stored_text(wrong)}\n"
        f"  expected: {expected}\n"
        f"  decided by: {source_text(decision)}\n"
        f"  fix: {_fix(build, decision, wrong[0].name, plain)}"
    )


def _fix(build: Build, decision: Decision, name: str, plain: bool) -> str:
    if _beside(decision, name):
        return _UNFUSE
    name, wanted = layer_name(build.session.world, name), "quantized" if plain else "unquantized"
    policy = build.session.policy.source.name
    if plain and build.config is None:
        return f"this model is built without a quantization config; see 'drop' in {policy} and in the docs"
    if decision.rule is not None and decision.action != "native":
        return f"decide {name} '{wanted}' in {policy}, or correct its tensors"
    return f"add the rule '{name}: {wanted}' to {policy}, or correct the list"


def _beside(decision: Decision, name: str) -> bool:
    """Whether a member of an experts layer is stored beside it: a shared expert that is built into it."""
    return decision.kind == "moe" and is_shared(name)


def _tensors(module: StoredModule) -> str:
    return ", ".join(_one(own, tensor.dtype, tensor.shape) for own, tensor in list(module.tensors.items())[:_SHOWN])


def _one(own: str, dtype: str | None, shape: Iterable[int] | None) -> str:
    return f"{own} {dtype or 'of unknown type'} {list(shape) if shape is not None else ''}".rstrip()
