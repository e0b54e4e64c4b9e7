"""What in the settings of a whole GPTQ or AutoRound config stops an engine before any layer is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qpolicy.native.config import NativeConfig

# SGLang 0.5.23, quantization/gptq/gptq.py: GPTQMarlinConfig.TYPE_MAP; marlin_utils.py: MARLIN_SUPPORTED_GROUP_SIZES.
MARLIN_TYPES = ((4, True), (8, True))
_MARLIN_GROUPS = (-1, 32, 64, 128)
# SGLang 0.5.23, quantization/auto_round.py: AutoRoundConfig.
_AUTO_ROUND = {
    "bits": (None, (2, 3, 4, 8)),
    "data_type": ("int", ("int",)),
    "packing_format": ("auto_round:auto_gptq", ("auto_round:auto_gptq", "auto_round:auto_awq")),
    "backend": ("auto", ("auto", "gptq", "gptq:marlin", "awq", "awq:marlin", "marlin")),
}


def _absent(*keys: str) -> Callable[[NativeConfig], str | None]:
    def check(config: NativeConfig) -> str | None:
        absent = [key for key in keys if key not in config.raw]
        return f"the config lacks {', '.join(absent)}" if absent else None

    return check


def _marlin_format(config: NativeConfig) -> str | None:
    if config.raw.get("checkpoint_format") == "marlin" or config.raw.get("is_marlin_format"):
        return "the weights are in Marlin's own format, which the engine no longer reads"
    return None


def _not_for_marlin(config: NativeConfig) -> str | None:
    kind, group = (config.raw.get("bits"), config.raw.get("sym")), config.raw.get("group_size")
    if kind in MARLIN_TYPES and group in _MARLIN_GROUPS:
        return None
    return f"the engine has no kernel for bits, sym = {kind} with group_size {group}"


def _another_method(config: NativeConfig) -> str | None:
    return None if config.method.lower() == "auto-round" else f"the engine has no method {config.method!r}"


def _unknown_to_auto_round(config: NativeConfig) -> str | None:
    for key, (default, known) in _AUTO_ROUND.items():
        value = _setting(config, key, default)
        if value not in known:
            return f"the engine does not know {key} {value!r}, only {', '.join(map(str, known))}"
    return None


def _setting(config: NativeConfig, key: str, default: Any) -> Any:
    keys = (key, "vllm_backend", "sglang_backend") if key == "backend" else (key,)
    return next((config.raw[one] for one in keys if one in config.raw), default)


REFUSALS: dict[str, Callable[[NativeConfig], str | None]] = {
    "no-gptq-settings": _absent("bits", "group_size", "desc_act", "sym"),
    "marlin-format": _marlin_format,
    "not-for-marlin": _not_for_marlin,
    "another-method-than-auto-round": _another_method,
    "no-auto-round-settings": _absent("bits", "group_size", "sym"),
    "unknown-to-auto-round": _unknown_to_auto_round,
}
"""Each refusal's name in the data; it returns why the engine stops, or None."""
