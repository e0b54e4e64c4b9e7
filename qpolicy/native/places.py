"""Which of several quantization configs of one checkpoint an engine reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qpolicy.native.config import read_config

_BESIDE = ("hf_quant_config.json", "quant_model_description.json")
_OWN = ("quantization_config", "text config's quantization_config", "compression_config")
_CACHE = ("kv_cache_quant_algo", "kv_cache_scheme")


def consulted_place(places: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the place of the config that SGLang reads.

    ``config.json`` wins over ``hf_quant_config.json``, whatever the two say, with one exception: of a ModelOpt
    checkpoint with several algorithms, a config that says nothing about the KV cache is passed over, and then there
    must be the other file. SGLang 0.5.23, sglang/srt/model_loader/weight_utils.py: get_quant_config,
    sglang/srt/configs/model_config.py: _parse_quant_hf_config.

    Args:
        places: The configs by file and key, such as ``hf_quant_config.json: quantization``, as
            `Checkpoint.configs.quantization_places` has them.

    Returns:
        The place; None when SGLang finds none and takes the checkpoint for unquantized, or refuses it.

    Raises:
        NativeConfigError: The config in ``config.json`` is malformed.
    """
    own = next((place for place in (f"config.json: {key}" for key in _OWN) if place in places), None)
    beside = next((place for place in places if place.partition(":")[0] in _BESIDE), None)
    if own is None:
        return beside if beside is None or _is_seen(places[beside], beside) else None
    return beside if _is_passed_over(places[own], own) else own


def _is_seen(published: Mapping[str, Any], place: str) -> bool:
    """Tell whether SGLang knows the algorithm of a file of its own; otherwise the file is as good as not there."""
    return read_config(published, place).variant != "other"


def _is_passed_over(published: Mapping[str, Any], place: str) -> bool:
    config = read_config(published, place)
    return (config.dialect, config.variant) == ("modelopt", "mixed") and not any(key in published for key in _CACHE)
