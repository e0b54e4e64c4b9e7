"""What in a config stops an engine before it asks about any layer, for the dialects with many ways to be wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qpolicy.native.config import NativeConfig

# SGLang 0.5.23, sglang/srt/layers/quantization/modelopt_quant.py: ModelOptFp4Config.from_config, _BLOCK_FP8_ALGOS.
_FP4 = ("FP8", "NVFP4", "NVFP4_AWQ", "W4A16_NVFP4")
_BLOCK_FP8 = ("FP8_PB_WO", "FP8_BLOCK_SCALES")
_CACHE = ("kv_cache_quant_algo", "kv_cache_scheme")


def _algorithm(*known: str) -> Callable[[NativeConfig], str | None]:
    def check(config: NativeConfig) -> str | None:
        found = config.raw.get("quant_algo")
        return None if found in known else f"quant_algo {found!r} is not {' or '.join(known)}"

    return check


def _unknown_algorithm(config: NativeConfig) -> str | None:
    if config.section:
        return None
    return f"the engine knows no quant_algo {config.raw.get('quant_algo')!r}"


def _null_first(*keys: str) -> Callable[[NativeConfig], str | None]:
    def check(config: NativeConfig) -> str | None:
        first = next((key for key in keys if key in config.raw), None)
        return f"{first} is null" if first is not None and config.raw[first] is None else None

    return check


def _no_group_size(config: NativeConfig) -> str | None:
    sizes = _group_sizes(config.raw)
    if not config.section or len(sizes) == 1:
        return None
    return f"group_size is {sorted(sizes)}, not the same everywhere" if sizes else "no group_size is given"


def _without_group_size(config: NativeConfig) -> str | None:
    groups = [group for group in (config.raw.get("config_groups") or {}).values() if isinstance(group, Mapping)]
    weights = groups[0].get("weights") if groups else None
    first = weights.get("group_size") if isinstance(weights, Mapping) else None
    if config.section:
        return _no_group_size(config)
    given = config.raw.get("group_size") is not None or first is not None
    return None if given else "no group_size is given"


def _null_list_that_is_read(config: NativeConfig) -> str | None:
    return _null_first("exclude_modules" if config.section else "ignore")(config)


def _group_sizes(raw: Mapping[str, Any]) -> set[int]:
    groups = [group for group in (raw.get("config_groups") or {}).values() if isinstance(group, Mapping)]
    parts = [part for group in groups for part in group.values() if isinstance(part, Mapping)]
    sizes = [part.get("group_size") for part in (raw, *groups, *parts)]
    return {size for size in sizes if isinstance(size, int)}


def _mixed_without_cache(config: NativeConfig) -> str | None:
    if config.section or any(key in config.raw for key in _CACHE):
        return None
    return f"without {' and '.join(_CACHE)} the engine passes this config over and reads hf_quant_config.json"


def _block_sizes(config: NativeConfig) -> str | None:
    layers = (config.raw.get("quantized_layers") or {}).values()
    blocks = [layer for layer in layers if str(layer.get("quant_algo", "")).upper() in _BLOCK_FP8]
    sizes = {str(layer.get("group_size", 128)) for layer in blocks}
    return f"its block-wise fp8 layers have several group sizes: {', '.join(sorted(sizes))}" if len(sizes) > 1 else None


def _flat(config: NativeConfig) -> str | None:
    return None if config.section else "the engine reads only a file whose settings are under 'quantization'"


def _absent(key: str) -> Callable[[NativeConfig], str | None]:
    return lambda config: f"{key} is missing or null" if config.raw.get(key) is None else None


def _not(key: str, *wanted: Any) -> Callable[[NativeConfig], str | None]:
    def check(config: NativeConfig) -> str | None:
        found = config.raw.get(key, wanted[0])
        return None if found in wanted else f"{key} is {found!r}, the engine needs {wanted[0]!r}"

    return check


def _one_of(*keys: str) -> Callable[[NativeConfig], str | None]:
    return lambda config: None if any(key in config.raw for key in keys) else f"none of {', '.join(keys)} is given"


def _not_four_bits(config: NativeConfig) -> str | None:
    bits = config.raw.get("w_bit", config.raw.get("bits", 4))
    return None if bits == 4 else f"{bits} bits; the engine reads only 4"


REFUSALS: dict[str, Callable[[NativeConfig], str | None]] = {
    "not-fp8": _algorithm("FP8"),
    "unknown-fp4": _algorithm(*_FP4),
    "unknown-algorithm": _unknown_algorithm,
    "null-first-list": _null_first("ignore", "modules_to_not_convert", "exclude_modules"),
    "null-exclude-modules": _null_first("exclude_modules"),
    "no-exclude-modules": _absent("exclude_modules"),
    "section-without-group-size": _no_group_size,
    "without-group-size": _without_group_size,
    "fp8-or-nvfp4-only": _algorithm("FP8", "NVFP4"),
    "null-list-that-is-read": _null_list_that_is_read,
    "mixed-without-cache": _mixed_without_cache,
    "several-block-sizes": _block_sizes,
    "flat": _flat,
    "no-bits": _one_of("w_bit", "bits"),
    "no-group-size": _one_of("q_group_size", "group_size"),
    "no-zero-point": _one_of("zero_point"),
    "not-four-bits": _not_four_bits,
    "other-storage": _not("bnb_4bit_quant_storage", "uint8", None),
    "no-block-size": _absent("weight_block_size"),
}
"""Each refusal's name in the data: takes a config to the reason, or None when it is in order."""
