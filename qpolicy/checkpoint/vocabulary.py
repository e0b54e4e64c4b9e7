"""Tells from a module's own tensors whether they are quantized.

The names of each format are data, in ``vocabulary.toml``. The element types come first where they are known: a weight
in fp8, fp4 or a short integer type is quantized whatever stands beside it, and one in bf16, f16 or f32 is not, even
beside a scale. The latter is what a fake-quantized or half-restored module looks like; the evidence says ``conflict``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

from qpolicy.checkpoint.dtypes import PACKED_DTYPES

UNKNOWN = "unknown"
"""The key of the union of all formats, for a checkpoint that names none."""

Signature: TypeAlias = tuple[tuple[str, str | None, int | None], ...]
"""A module's tensors without their sizes: own name, dtype, number of dimensions."""

_SHOWN = 3
_MARKS = (
    ("quant_algo", "modelopt"),
    ("quantized_layers", "modelopt"),
    ("qformat_weight", "fp8"),
    ("model_quant_type", "modelslim"),
)
"""Keys that tell the format of a quantization config that names no method."""


class Verdict(NamedTuple):
    """Whether a module's tensors are quantized.

    Attributes:
        quantized: True, False, or None where the tensors do not tell.
        evidence: The tensors that decided, such as ``"weight_packed i32, weight_scale bf16"``.
    """

    quantized: bool | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tensor names of one format; ``vocabulary.toml`` says what each field means."""

    methods: frozenset[str]
    weights: frozenset[str]
    packed: frozenset[str]
    companions: frozenset[str]
    activations: frozenset[str]
    sources: frozenset[str]

    @classmethod
    def union(cls, parts: Iterable[Vocabulary]) -> Vocabulary:
        """Return the vocabulary that has every name of each part.

        A name that is a weight's scale in one and an activation's in another is the latter: it tells less.
        """
        every = tuple(parts)
        rows = {f.name: frozenset().union(*(getattr(part, f.name) for part in every)) for f in fields(cls)}
        return cls(**rows | {"companions": rows["companions"] - rows["activations"]})


@cache
def vocabularies() -> Mapping[str, Vocabulary]:
    """Return every format's vocabulary by key, with the union of all as ``unknown``."""
    table = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8"))
    read = {key: Vocabulary(**{name: frozenset(row[name]) for name in row}) for key, row in table.items()}
    return read | {UNKNOWN: Vocabulary.union(read.values())}


def format_of(quantization: Mapping[str, Any] | None) -> str:
    """Return the vocabulary key for a quantization config, ``unknown`` where there is none or it names none.

    Args:
        quantization: The quantization config, as it is in the checkpoint's files.
    """
    if not quantization:
        return UNKNOWN
    method = quantization.get("quant_method")
    if isinstance(method, str):
        lower = method.lower()
        return next((key for key, words in vocabularies().items() if lower in words.methods), UNKNOWN)
    by_mark = next((key for mark, key in _MARKS if mark in quantization), None)
    return by_mark or _without_method(quantization)


def _without_method(quantization: Mapping[str, Any]) -> str:
    """The format of an old or foreign config that has no method: GPTQ, AWQ, AutoRound or MLX."""
    if "autoround_version" in quantization or "enable_quanted_input" in quantization:
        return "auto-round"
    if "desc_act" in quantization or "damp_percent" in quantization:
        return "gptq"
    if "w_bit" in quantization or "zero_point" in quantization:
        return "awq"
    return "mlx" if {"bits", "group_size"} <= quantization.keys() else UNKNOWN


@lru_cache(maxsize=4096)
def judge(key: str, signature: Signature) -> Verdict:
    """Tell whether a module with these tensors is quantized.

    Args:
        key: The checkpoint's format, a key of :func:`vocabularies`.
        signature: The module's tensors.

    Returns:
        The verdict. It is None for a module that has no weight, or only the scales of one; and, where no header was
        read and the format is unknown, for one that has a weight of unknown type and no scale. Where no header was read
        but the format is known, a weight without any of the format's companions is unquantized: every format that is
        known here stores at least a scale.
    """
    words, every = vocabularies()[key], vocabularies()[UNKNOWN]
    packed = [entry for entry in signature if entry[0] in every.packed]
    weights = [entry for entry in signature if entry[0] in words.weights]
    companions = [entry for entry in signature if entry[0] in words.companions]
    if packed:
        return Verdict(True, _list(packed + companions))
    if not weights:
        return Verdict(None, f"{_list(companions)} without a weight" if companions else "no weight")
    dtypes = {dtype for _, dtype, _ in weights}
    if dtypes & PACKED_DTYPES:
        return Verdict(True, _list(weights + companions))
    if None in dtypes:
        return _judge_names(key, weights, companions)
    if companions:
        return Verdict(False, f"conflict: {_list(weights)} beside {_list(companions)}")
    return Verdict(False, _list(weights))


def _judge_names(key: str, weights: list[Any], companions: list[Any]) -> Verdict:
    if companions:
        return Verdict(True, f"{_list(weights + companions)}, dtypes unknown")
    if key == UNKNOWN:
        return Verdict(None, f"{_list(weights)}, dtype and format unknown")
    return Verdict(False, f"{_list(weights)}, dtype unknown, and none of {key}'s scales")


def _list(entries: list[tuple[str, str | None, int | None]]) -> str:
    shown = [name if dtype is None else f"{name} {dtype}" for name, dtype, _ in entries[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(entries) - _SHOWN} more" if len(entries) > _SHOWN else "")
