"""The table of stored modules: which modules a checkpoint holds, and what each is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from qpolicy.checkpoint.dtypes import PACKED_DTYPES
from qpolicy.checkpoint.naming import is_projection, split_name
from qpolicy.checkpoint.tensor import Tensor
from qpolicy.checkpoint.vocabulary import UNKNOWN, Signature, judge, vocabularies

Kind: TypeAlias = Literal["linear", "moe", "lm_head", "embedding"]

_EMBEDDING = re.compile(
    r"embed(_tokens.*|_positions?|_in|)|wte|wpe|.*embeddings?|.*_embed|relative_attention_bias|tok_embeddings"
)
_NO_LAYER = re.compile(r".*norm.*|ln(_\w+)?|.*conv(\d+d?)?(_\w+)?|rotary\w*")
_PATCHES = re.compile(r"(.*\.)?patch_embed(|ding|der|\.proj)")
_HEADS = frozenset({"lm_head", "embed_out", "output_layer"})
_TOP_LEVEL_HEADS = frozenset({"head", "output"})  # DeepSeek V4 and Mistral's own format
_STACKED_BY_PARENT = frozenset({"moe", "block_sparse_moe"})  # Step 3.5 and Granite stack experts without the word


@dataclass(frozen=True)
class StoredModule:
    """One module of a checkpoint.

    Without slots, so that what is asked again and again is worked out once.

    Attributes:
        name: Its dotted name on disk.
        tensors: Its tensors by their own names (``weight``, ``weight_scale``, ``bias``, ...), in file order.
        format: The checkpoint's format, a key of the vocabulary.
    """

    name: str
    tensors: Mapping[str, Tensor]
    format: str = field(default=UNKNOWN, compare=False, repr=False)

    @property
    def signature(self) -> Signature:
        """Its tensors without their sizes."""
        return tuple((own, t.dtype, None if t.shape is None else len(t.shape)) for own, t in self.tensors.items())

    @cached_property
    def kind(self) -> Kind | None:
        """What kind of layer it is, from names and shapes; None for what no format quantizes (norms, convolutions)."""
        return kind_of(self.name, self.signature)

    @cached_property
    def quantized(self) -> bool | None:
        """Whether its tensors are quantized; None where they do not tell."""
        return judge(self.format, self.signature).quantized

    @cached_property
    def evidence(self) -> str:
        """The tensors that :attr:`quantized` follows from."""
        return judge(self.format, self.signature).evidence


def build_modules(tensors: Iterable[Tensor], key: str) -> dict[str, StoredModule]:
    """Build the table of stored modules.

    Args:
        tensors: Every tensor, in file order.
        key: The checkpoint's format, a key of the vocabulary.

    Returns:
        The modules by name, in the order of their first tensor.
    """
    grouped: dict[str, dict[str, Tensor]] = {}
    for tensor in tensors:
        name, own = split_name(tensor.name)
        members = grouped.get(name)
        if members is None:
            grouped[name] = {own: tensor}
        else:
            members[own if own not in members else tensor.name] = tensor
    return {name: StoredModule(name, members, key) for name, members in grouped.items()}


def kind_of(name: str, signature: Signature) -> Kind | None:
    """Tell what kind of layer a module is.

    A two-dimensional or packed weight is a linear layer, below numbered or stacked experts it is ``moe``, and so is a
    three-dimensional one below experts. Names tell embeddings, heads, norms and convolutions apart, and stand in for
    shapes that are not known.

    Args:
        name: The module's name.
        signature: Its tensors.

    Returns:
        The kind, or None for a module that no format quantizes.
    """
    form = _weight_form(signature)
    if form is None:
        return None
    segments = name.split(".")
    if "experts" in segments[:-1]:
        return _kind_below_experts(segments, form)
    return _kind_by_name(segments[-1], ".".join(segments[-2:]), len(segments) == 1, form)


@lru_cache(maxsize=4096)
def _weight_form(signature: Signature) -> int | None:
    """The dimensions of the module's weight: None without one, 2 in packed form, -1 where they are not known."""
    words = vocabularies()[UNKNOWN]
    packed = any(own in words.packed for own, _, _ in signature)
    weights = [entry for entry in signature if entry[0] in words.weights]
    if packed:
        return 2
    if not weights:
        return None
    own, dtype, dimensions = weights[0]
    if dimensions is None:
        return -1
    if own != "weight":
        return 2  # the flat values of a sparse weight
    return 2 if dtype in PACKED_DTYPES and dimensions < 2 and len(signature) > 1 else dimensions


def _kind_below_experts(segments: list[str], form: int) -> Kind | None:
    below = segments[_last_index(segments[:-1], "experts") + 1 :]
    if form in (0, 1) or _NO_LAYER.fullmatch(segments[-1]):
        return None
    if below[0].isdecimal() or is_projection(below[-1]) or form == 3:
        return "moe"
    return "linear" if form in (2, -1) else None


@lru_cache(maxsize=4096)
def _kind_by_name(last: str, last_two: str, alone: bool, form: int) -> Kind | None:
    if form in (0, 1) or form > 3 or _NO_LAYER.fullmatch(last):
        return None
    if form == 3:
        return "moe" if last_two.split(".", maxsplit=1)[0] in _STACKED_BY_PARENT else None
    if _PATCHES.fullmatch(last_two):
        return "linear" if form == 2 else None
    if last in _HEADS or last_two == "shared_head.head" or (alone and last in _TOP_LEVEL_HEADS):
        return "lm_head"
    is_list_of_tables = last.isdecimal() and last_two.split(".", maxsplit=1)[0].endswith("embeddings")
    return "embedding" if is_list_of_tables or _EMBEDDING.fullmatch(last) else "linear"


def _last_index(segments: list[str], wanted: str) -> int:
    return len(segments) - 1 - segments[::-1].index(wanted)
