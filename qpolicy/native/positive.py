"""Looks a layer up in a map that names, layer by layer, what is quantized and how.

SGLang 0.5.23, sglang/srt/layers/quantization/modelopt_quant.py: ModelOptMixedPrecisionConfig._resolve_quant_algo and
_quantized_layer_prefix_candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from qpolicy.native.config import Group
from qpolicy.native.index import Item

_WRAPPED, _WRAPPING, _PLAIN = "language_model.model.", "model.language_model.", "model."


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What the map says about a layer.

    Attributes:
        group: The scheme; None when the engine refuses.
        why: Which key chose it, or why the engine refuses.
    """

    group: Group | None
    why: str


class PositiveMap:
    """The layers of a map with their schemes, in published order.

    Args:
        pairs: Each key with its scheme.
    """

    def __init__(self, pairs: Sequence[tuple[Item, Group]]) -> None:
        self._pairs = {item.text: (item, group) for item, group in pairs}

    @cached_property
    def _below(self) -> Mapping[str, str]:
        """Each parent with the first key below it."""
        found: dict[str, str] = {}
        for key in self._pairs:
            for place in (place for place, character in enumerate(key) if character == "."):
                found.setdefault(key[:place], key)
        return found

    def find(self, name: str, packed: Mapping[str, Sequence[str]]) -> Found | None:
        """Return what the map says about a layer, or None when it says nothing.

        Args:
            name: The engine's name of the layer.
            packed: The fused families that the model declares.
        """
        spelt = list(spellings(name))
        own = next((self._chosen(key, name) for key in spelt if key in self._pairs), None)
        below = (self._chosen(self._below[key], name) for key in spelt if key in self._below)
        return own or self._by_shards(name, packed) or next(below, None)

    def _chosen(self, key: str, name: str) -> Found:
        item, group = self._pairs[key]
        if not group.arguments:
            return Found(None, f"{item.entry.where} has no quant_algo, and the engine asks for it")
        return Found(group, f"{item.entry.where}, {item.entry.text!r}, stands for {name}")

    def _by_shards(self, name: str, packed: Mapping[str, Sequence[str]]) -> Found | None:
        parent, dot, leaf = name.rpartition(".")
        bases = list(spellings(parent if dot else name))
        keys = [f"{base}.{shard}" for base in bases for shard in packed.get(leaf, ())]
        found = [self._chosen(key, name) for key in keys if key in self._pairs]
        broken = next((one for one in found if one.group is None), None)
        schemes = sorted({str(one.group.arguments) for one in found if one.group is not None})
        if broken is None and len(schemes) > 1:
            broken = Found(None, f"the members of {name} have different schemes: {' and '.join(schemes)}")
        return broken or next(iter(found), None)


def spellings(name: str) -> Iterable[str]:
    """Return the names under which SGLang looks a layer up, in its order."""
    return dict.fromkeys(_spellings(name))


def _spellings(name: str) -> Iterator[str]:
    yield name
    if name.endswith(".lm_head"):
        yield "lm_head"
    if name.startswith(_WRAPPED):
        yield _WRAPPING + name.removeprefix(_WRAPPED)
    elif name.startswith(_WRAPPING):
        yield _WRAPPED + name.removeprefix(_WRAPPING)
        yield _PLAIN + name.removeprefix(_WRAPPING)
    elif name.startswith(_PLAIN):
        yield _WRAPPING + name.removeprefix(_PLAIN)
