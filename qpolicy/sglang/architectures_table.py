"""What a rehearsal says about an architecture, folded into one row of the architecture table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from qpolicy.sglang.rehearse_job import Layer, Rehearsed

_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")
OWNERS = frozenset({"linear", "moe", "lm_head", "embedding"})
"""The kinds of layers that own weights."""


def row(result: Rehearsed) -> dict[str, Any]:
    """Return the row of one model: who asks, who does not, and how names are fused and rewritten.

    Layer numbers are folded to ``{N}``, so that a row is the same for any number of layers. A name that asks in one
    layer and not in another is in both lists.
    """
    names = dict(engine_names(result.layers))
    owners = [layer for layer in result.layers if layer.kind in OWNERS]
    return {
        "class": result.model,
        "asked": _folded(owners, names, asked=True),
        "unasked": _folded(owners, names, asked=False),
        "packed": {fused: list(parts) for fused, parts in sorted(result.packed.items())},
        "mapper": {kind: dict(sorted(rewritten.items())) for kind, rewritten in sorted(result.mapper.items())},
    }


def merged(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a model that was built for two formats: what asks for one of them only is in both lists."""
    if one is None:
        return other
    return {**one, **{part: dict(sorted({**one[part], **other[part]}.items())) for part in ("asked", "unasked")}}


def fold(name: str) -> str:
    """Replace every number that is a whole segment of a name by ``{N}``."""
    return _NUMBER.sub("{N}", name)


def engine_names(layers: Iterable[Layer]) -> Iterable[tuple[str, str]]:
    """Return each layer's path and the name that it asks by, or would ask by if it asked.

    A layer that was given no name gets the one that its nearest named neighbour suggests: the neighbour's path and
    name end alike, and what stands before is exchanged.
    """
    layers = tuple(layers)
    roots = _roots(layers)
    for layer in layers:
        yield layer.path, layer.name or _renamed(layer.path, roots)


def _roots(layers: Iterable[Layer]) -> dict[str, str]:
    """Return for every part of the model that is the start of a named layer's path how names start there."""
    roots: dict[str, str] = {}
    for layer in layers:
        if not layer.name:
            continue
        path, name = layer.path.split("."), layer.name.split(".")
        while path and name and path[-1] == name[-1]:
            del path[-1], name[-1]
            roots.setdefault(".".join(path), ".".join(name))
    return roots


def _renamed(path: str, roots: Mapping[str, str]) -> str:
    start = path.rpartition(".")[0]
    while start and start not in roots:
        start = start.rpartition(".")[0]
    if not start:
        return path
    return f"{roots[start]}{path[len(start) :]}".removeprefix(".")


def _folded(layers: Iterable[Layer], names: Mapping[str, str], *, asked: bool) -> dict[str, str]:
    found = {fold(names[layer.path]): layer.kind for layer in layers if layer.asked is asked}
    return dict(sorted(found.items()))
