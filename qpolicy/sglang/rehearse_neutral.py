"""A quantization config of no format: every layer that asks it gets plain weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any


def neutral_config(name: str, packed: Mapping[str, Sequence[str]]) -> Any:
    """Return a new config that answers every question with plain weights.

    Args:
        name: What the config says when models ask it for its name.
        packed: The model class's fused families, as the loader passes them.
    """
    config = _neutral_class()()
    config.packed_modules_mapping = dict(packed)
    config.name = name
    return config


@cache
def _neutral_class() -> Any:
    from sglang.srt.layers.linear import LinearBase  # noqa: PLC0415
    from sglang.srt.layers.quantization.base_config import QuantizationConfig  # noqa: PLC0415
    from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod  # noqa: PLC0415

    class Neutral(QuantizationConfig):  # type: ignore[misc]
        ignore: tuple[str, ...] = ()
        exclude_modules: tuple[str, ...] = ()
        ignored_layers: tuple[str, ...] = ()
        exclude_layers: tuple[str, ...] = ()

        def __init__(self) -> None:
            super().__init__()
            self.packed_modules_mapping: dict[str, list[str]] = {}
            self.quant_config: dict[str, Any] = {}
            self.name = ""

        def get_name(self) -> str:
            return self.name

        def get_supported_act_dtypes(self) -> list[Any]:
            return []

        @classmethod
        def get_min_capability(cls) -> int:
            return 0

        @staticmethod
        def get_config_filenames() -> list[str]:
            return []

        @classmethod
        def from_config(cls, config: Any) -> Any:
            return cls()

        def get_scaled_act_names(self) -> list[str]:
            return []

        def get_quant_method(self, layer: Any, prefix: str) -> Any:
            return UnquantizedLinearMethod() if isinstance(layer, LinearBase) else None

    return Neutral
