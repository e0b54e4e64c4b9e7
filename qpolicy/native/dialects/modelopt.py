"""The dialect of NVIDIA ModelOpt, in ``config.json`` or in the section ``quantization`` of ``hf_quant_config.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import StrictStr

from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Names, Published, Scheme

_FP4_LAYERS = ("NVFP4", "W4A16_NVFP4")
_BY_METHOD = {"modelopt_fp8": "fp8", "modelopt_fp4": "nvfp4", "modelopt_mixed": "mixed"}
_BY_ALGORITHM = {"FP8": "fp8", "MXFP8": "mxfp8"}


class ModelOpt(Published):
    """A published ModelOpt config."""

    DIALECT = "modelopt"
    METHODS = ("modelopt", *_BY_METHOD)
    LISTS = ("ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers")
    quant_algo: StrictStr | None = None
    ignore: Names = None
    exclude_modules: Names = None
    modules_to_not_convert: Names = None
    ignored_layers: Names = None
    quantized_layers: dict[str, Scheme] | None = None
    config_groups: dict[str, Scheme] | None = None
    kv_cache_quant_algo: StrictStr | None = None
    kv_cache_scheme: Scheme | StrictStr | None = None

    @classmethod
    def is_section(cls, quantization: Mapping[str, Any], where: str) -> bool:
        """Tell whether a config is the section of a file of its own.

        The place says so; of a config whose place is not known, its keys do.
        """
        file, _, key = where.partition(": ")
        if key:
            return (file, key) == ("hf_quant_config.json", "quantization")
        return "quant_method" not in quantization and "ignore" not in quantization and "exclude_modules" in quantization

    def variant(self, method: str) -> str:
        """Return which of SGLang's classes for ModelOpt such a config gets.

        SGLang 0.5.23, srt/configs/model_config.py: _parse_modelopt_quant_config.
        """
        algorithm = self.quant_algo or ""
        if method.lower() in _BY_METHOD:
            return _BY_METHOD[method.lower()]
        if algorithm == "MIXED_PRECISION":
            return "mixed" if self._has_fp4_layers() else "w4afp8"
        return "nvfp4" if "FP4" in algorithm else _BY_ALGORITHM.get(algorithm, "other")

    @property
    def format_name(self) -> str | None:
        """The algorithm, such as ``NVFP4``."""
        return self.quant_algo

    def groups(self, where: str) -> list[Group]:
        """Return the scheme of each layer of the positive map, then that of all other layers where there is no map."""
        layers = (self.quantized_layers or {}).items()
        found = [_layer(name, scheme, f"{where}.quantized_layers[{name!r}]") for name, scheme in layers]
        return [*found, Group(self.quant_algo or "none", "global", (), True, self.quant_algo)]

    def schemes(self, groups: Iterable[Group]) -> tuple[str, ...]:
        """Return the algorithms of the positive map."""
        return tuple(dict.fromkeys(group.name for group in groups if group.role == "layer" and group.arguments))

    def _has_fp4_layers(self) -> bool:
        layers = (self.quantized_layers or {}).values()
        return any(str(layer.get("quant_algo", "")).upper() in _FP4_LAYERS for layer in layers)


def _layer(name: str, scheme: Scheme, where: str) -> Group:
    algorithm = scheme.get("quant_algo")
    known = algorithm.upper() if isinstance(algorithm, str) else ""
    return Group(known, "layer", (Entry(name, where, "quantized_layers"),), True, known)
