"""When two published schemes are one scheme.

Engines compare schemes by content, with defaults filled in, so ``{"num_bits": 4}`` and
``{"num_bits": 4, "symmetric": true}`` are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qpolicy.native.dialects.compressed_tensors import ConfigGroup

# compressed-tensors 0.18.0, quantization/quant_args.py: QuantizationArgs.
_DEFAULTS: Mapping[str, Any] = {
    "num_bits": 8,
    "type": "int",
    "symmetric": True,
    "group_size": None,
    "strategy": None,
    "block_structure": None,
    "dynamic": False,
    "actorder": None,
    "scale_dtype": None,
    "zp_dtype": None,
    "observer": None,
    "observer_kwargs": {},
}
# SGLang 0.5.23, quantization/compressed_tensors/utils.py: only with these formats does it look at activations.
_ACTIVATION_FORMATS = frozenset(
    ("naive-quantized", "int-quantized", "float-quantized", "nvfp4-pack-quantized", "pack-quantized")
)


def weight_arguments(group: ConfigGroup, format_name: str | None) -> tuple[Any, ...]:
    """Return what SGLang compares when it asks whether two compressed-tensors groups are one scheme.

    Args:
        group: The published group.
        format_name: The config's own format, for a group that names none.
    """
    activations = group.input_activations if (group.format or format_name) in _ACTIVATION_FORMATS else None
    return (_filled(group.weights), _filled(activations) if activations else None, group.format)


def is_mxfp4(arguments: tuple[Any, ...]) -> bool:
    """Tell whether weights of these arguments are MXFP4 to SGLang 0.5.23 (compressed_tensors.py: _is_mxfp4_moe)."""
    weights = arguments[0]
    return weights is not None and all(
        weights[key] == value
        for key, value in (
            ("num_bits", 4),
            ("type", "float"),
            ("strategy", "group"),
            ("group_size", 32),
            ("symmetric", True),
        )
    )


def same_scheme(one: Any, other: Any) -> bool:
    """Compare two Quark schemes as SGLang 0.5.23 does (quark/utils.py: deep_compare): lists as sets, types strictly."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_scheme(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return {repr(item) for item in one} == {repr(item) for item in other}
    return bool(one == other)


def _filled(arguments: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if arguments is None:
        return None
    full = {key: arguments.get(key, default) for key, default in _DEFAULTS.items()}
    full.update({key: _lower(full[key]) for key in ("type", "strategy", "dynamic", "actorder")})
    full["strategy"] = full["strategy"] or _strategy(full["group_size"])
    full["actorder"] = _actorder(full["actorder"])
    full["observer"] = _observer(full["observer"], full["dynamic"])
    return full


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _strategy(group_size: Any) -> str:
    if group_size is None:
        return "tensor"
    return "channel" if group_size == -1 else "group"


def _actorder(order: Any) -> Any:
    if isinstance(order, bool):
        return "group" if order else None
    return "group" if order == "dynamic" else order


def _observer(observer: Any, dynamic: Any) -> Any:
    if dynamic is True:
        return None
    if observer is None:
        return "minmax" if dynamic else "memoryless_minmax"
    return observer
