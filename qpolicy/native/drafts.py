"""Where an engine builds a draft without any quantization config, whatever the list says about single layers.

The rows are in ``drafts.toml``; here are the few predicates that they may use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from qpolicy.native.config import NativeConfig
from qpolicy.native.mapper import Mapper
from qpolicy.native.reading import engine_reading
from qpolicy.native.versions import engine_and_version, lies_between

_MODELOPT_METHODS = {
    "fp8": "modelopt_fp8",
    "nvfp4": "modelopt_fp4",
    "mixed": "modelopt_mixed",
    "mxfp8": "mxfp8",
    "w4afp8": "w4afp8",
}


@dataclass(frozen=True, slots=True)
class _Case:
    config: NativeConfig
    engine: str
    num_hidden_layers: int | None
    row: Mapping[str, Any]

    def mapper(self) -> Mapper:
        """Return the draft's rewriting of the entries; ``{N}`` in the data is the number of layers."""
        anywhere, beginnings = (self.row.get(key, {}) for key in ("renames", "renames_at_start"))
        number = str(self.num_hidden_layers)
        return Mapper({old.replace("{N}", number): new for old, new in anywhere.items()}, beginnings)


def draft_class(engine: str, arch: str) -> str:
    """Return the draft class that an engine builds for a checkpoint's architecture, or the name itself.

    Args:
        engine: The engine, such as ``sglang``, perhaps with a version; the classes are those of the newest.
        arch: An entry of the config's ``architectures``, or a draft class.
    """
    built: str = _tables()["drafts"].get(engine_and_version(engine)[0], {}).get(arch, arch)
    return built


def draft_nulling(config: NativeConfig, engine: str, arch: str, num_hidden_layers: int | None) -> str | None:
    """Tell why an engine builds a draft without a quantization config.

    Args:
        config: The checkpoint's config.
        engine: The engine, such as ``sglang``, or with a version, ``sglang 0.5.16``; without one, the newest.
        arch: The target's architecture as the checkpoint names it, or the draft class itself.
        num_hidden_layers: The target's number of layers, which numbers the draft's layer in some families.

    Returns:
        The reason, with its source; None when the draft gets the config, or nothing is known of that draft class.
    """
    method, draft = engine_method(config), draft_class(engine, arch)
    for row in _tables()["nulling"]:
        fits = _is_of(row, engine) and draft in row["drafts"] and method in (row["methods"] or (method,))
        if fits and _WHEN[row["when"]](_Case(config, engine, num_hidden_layers, row)):
            return f"{engine} builds {draft} without quantization: {row['reason']} ({row['source']})"
    return None


def _is_of(row: Mapping[str, Any], engine: str) -> bool:
    """Tell whether a row is about this engine in this version; without a version, in the newest."""
    who, version = engine_and_version(engine)
    if row["engine"] != who:
        return False
    return lies_between(version, row.get("since", ""), row.get("until", "")) if version else "until" not in row


def engine_method(config: NativeConfig) -> str:
    """Return what SGLang calls the config's method: ModelOpt's algorithms are methods of their own there.

    SGLang 0.5.23, sglang/srt/configs/model_config.py: _parse_modelopt_quant_config.
    """
    if config.dialect != "modelopt":
        return config.method.lower()
    return _MODELOPT_METHODS.get(config.variant, config.method.lower())


def _quantized_layers(config: NativeConfig) -> Mapping[str, Any]:
    layers = config.raw.get("quantized_layers")
    return layers if isinstance(layers, Mapping) else {}


def _mtp_mentions_experts(case: _Case) -> bool:
    return any(entry.text.startswith("mtp.") and "mlp.experts" in entry.text for entry in case.config.entries)


def _decoder_excluded(case: _Case) -> bool:
    mapper = case.mapper()
    layer = mapper.rename(f"model.layers.{case.num_hidden_layers}")
    reading = engine_reading(case.config, case.engine, mapper=mapper)
    return layer is not None and reading.listed(layer, "linear").excluded


def _mentions_mtp(case: _Case) -> bool:
    return any(entry.text.startswith("mtp.") for entry in case.config.entries)


def _mixed_without_mtp(case: _Case) -> bool:
    return not any(name.startswith("mtp.") for name in _quantized_layers(case.config))


def _serialized_nvfp4(case: _Case) -> bool:
    return "NVFP4" in str(case.config.raw.get("quant_algo"))


def _layer_glob_ignored(case: _Case) -> bool:
    ignored = case.config.raw.get("ignore")
    return isinstance(ignored, list) and f"model.layers.{case.num_hidden_layers}.*" in ignored


_WHEN: dict[str, Callable[[_Case], bool]] = {
    "always": lambda case: True,
    "quark-mtp-mentions-experts": _mtp_mentions_experts,
    "quark-mentions-mtp": _mentions_mtp,
    "quark-decoder-excluded": _decoder_excluded,
    "mixed-without-mtp": _mixed_without_mtp,
    "serialized-nvfp4": _serialized_nvfp4,
    "layer-glob-ignored": _layer_glob_ignored,
}


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    with Path(__file__).with_name("drafts.toml").open("rb") as file:
        return tomllib.load(file)
