"""Made-up stored tensors for a model's layers; what ``load_weights`` does with them tells their names on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from qpolicy.sglang.rehearse_job import Layer, Rehearsed

Header = tuple[str, str, tuple[int, ...]]

EXPERT_PARTS = (("gate_proj", "up_proj", "down_proj"), ("w1", "w3", "w2"))
"""How checkpoints call an expert's three projections."""

STACKED_PARTS = (("gate_up_proj", "down_proj"), ("fc", "proj"))
"""How checkpoints call the projections of all experts in one tensor each."""

MORE_PARTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "qkv_proj": (("q_proj", "k_proj", "v_proj"), ("query_key_value",)),
    "gate_up_proj": (("gate_proj", "up_proj"),),
    "fused_qkv_a_proj_with_mqa": (("q_a_proj", "kv_a_proj_with_mqa"),),
    "wqkv_a": (("wq_a", "wkv"),),
    "in_proj_qkvz": (("in_proj_qkv", "in_proj_z"),),
    "in_proj_ba": (("in_proj_b", "in_proj_a"),),
}
"""Parts of fused layers by their names in checkpoints, beside those that the model class declares."""


def probes(
    layer: Layer, shapes: Mapping[str, Sequence[int]], packed: Mapping[str, Sequence[str]], stored: str
) -> Iterator[Header]:
    """Return headers that a checkpoint might hold for a layer that it stores under some name.

    Args:
        layer: The layer.
        shapes: The shape of every parameter of the model, by its path.
        packed: The model's fused families.
        stored: The layer's name on disk.
    """
    if layer.kind == "moe":
        yield from _experts(layer, shapes, stored)
        return
    shape = tuple(shapes.get(f"{layer.path}.weight", ()))
    if not shape:
        return
    yield f"{stored}.weight", "bf16", shape
    head, dot, leaf = stored.rpartition(".")
    for parts in {tuple(packed.get(leaf, ())), *MORE_PARTS.get(leaf, ())}:
        for part, size in zip(parts, _split(shape[0], layer.sizes, len(parts)), strict=True):
            yield f"{head}{dot}{part}.weight", "bf16", (size, *shape[1:])


def reached(result: Rehearsed) -> dict[str, set[str]]:
    """Return for each module's path the stored modules whose tensors reached one of its parameters."""
    found: dict[str, set[str]] = {}
    for parameter in result.parameters:
        modules = {source.rpartition(".")[0] for source in parameter.sources}
        found.setdefault(parameter.name.rpartition(".")[0], set()).update(modules)
    return found


def headers(
    result: Rehearsed, translate: Callable[[Layer], Iterable[str]], kinds: Iterable[str] = ("linear", "moe", "lm_head")
) -> tuple[Header, ...]:
    """Return the headers of every layer under the stored names that it is thought to have."""
    shapes = {parameter.name: parameter.shape for parameter in result.parameters}
    wanted = frozenset(kinds)
    made = {
        header[0]: header
        for layer in result.layers
        if layer.kind in wanted
        for stored in translate(layer)
        for header in probes(layer, shapes, result.packed, stored)
    }
    return tuple(made.values())


def _split(whole: int, sizes: Sequence[int], count: int) -> tuple[int, ...]:
    if len(sizes) == count:
        return tuple(sizes)
    # Some loaders fill parts up to a multiple of eight.
    part = whole // max(count, 1)
    part -= part % 8 if part > 8 else 0
    return (*[part] * (count - 1), whole - part * (count - 1)) if count else ()


def _experts(layer: Layer, shapes: Mapping[str, Sequence[int]], stored: str) -> Iterator[Header]:
    both, down = shapes.get(f"{layer.path}.w13_weight"), shapes.get(f"{layer.path}.w2_weight")
    if not both or not down:
        return
    # A gated expert has two projections in w13, as long together as twice w2's width.
    gate = (down[2], both[2])
    for parts in EXPERT_PARTS:
        for name, shape in zip(parts, (gate, gate, tuple(down[1:])), strict=True):
            yield f"{stored}.0.{name}.weight", "bf16", shape
    for up, out in STACKED_PARTS:
        yield f"{stored}.{up}", "bf16", tuple(both)
        yield f"{stored}.{out}", "bf16", tuple(down)
