"""Asks a config class about a layer as if its lists excluded nothing, or for one named scheme."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from qpolicy.sglang.own_class import bare_copy


def without_exclusions(config: Any) -> Any:
    """Return a copy of a config whose lists are empty; ``exclusions.toml`` says which those are."""
    bare, table = bare_copy(config), _table()
    for name in table["lists"]:
        if _is_list(getattr(bare, name, None)):
            setattr(bare, name, [])
    for name in table["raw"]:
        if isinstance(raw := getattr(bare, name, None), Mapping):
            setattr(bare, name, _emptied(raw))
    for name, prefix in table["negative"].items():
        if isinstance(found := getattr(bare, name, None), Mapping):
            setattr(bare, name, {text: value for text, value in found.items() if not text.startswith(prefix)})
    for name, bits in table["full"].items():
        if isinstance(found := getattr(bare, name, None), Mapping):
            setattr(bare, name, {text: value for text, value in found.items() if _bits(value) < bits})
    return bare


def with_scheme(config: Any, scheme: str, prefix: str) -> Any:
    """Return a copy of a config that gives this one layer the named scheme, or None where its class has no names.

    Args:
        config: The quantization config.
        scheme: A ``config_groups`` key of compressed-tensors, or an algorithm of ModelOpt's ``quantized_layers``.
        prefix: The layer's name.
    """
    bare = without_exclusions(config)
    if hasattr(bare, "target_scheme_map"):
        return _with_group(bare, scheme, prefix)
    if hasattr(bare, "quantized_layers"):
        bare.quantized_layers = {prefix: {"quant_algo": scheme}}
        return bare
    return None


def _with_group(bare: Any, scheme: str, prefix: str) -> Any:
    groups = (bare.config or {}).get("config_groups", {})
    if scheme not in groups:
        return None
    alone = {"format": bare.quant_format, "config_groups": {scheme: groups[scheme]}}
    found = next(iter(type(bare)._quantization_scheme_map_from_config(alone).values()))
    # The class looks for the layer's own name first, and for the type of the projections behind an experts layer.
    bare.target_scheme_map = {prefix: found, "Linear": found}
    bare.linear_fp8_config = None
    return bare


def _emptied(raw: Mapping[str, Any]) -> dict[str, Any]:
    emptied = {key: [] if key in _table()["lists"] and _is_list(value) else value for key, value in raw.items()}
    for key, prefix in _table()["negative"].items():
        if isinstance(found := emptied.get(key), Mapping):
            emptied[key] = {text: value for text, value in found.items() if not text.startswith(prefix)}
    return emptied


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | set)


def _bits(settings: Any) -> int:
    bits = settings.get("bits") if isinstance(settings, Mapping) else None
    return bits if isinstance(bits, int) else 0


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("exclusions.toml").read_text(encoding="utf-8"))
