"""The dialect of fp8 checkpoints: of model vendors and of transformers' fine-grained fp8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, StrictStr

from qpolicy.native.published import Names, Published


class Fp8(Published):
    """A published fp8 config; ``ignore`` is seen as well."""

    DIALECT = "fp8"
    METHODS = ("fp8", "mxfp8")
    LISTS = ("ignored_layers", "modules_to_not_convert", "ignore")
    ignored_layers: Names = None
    modules_to_not_convert: Names = None
    ignore: Names = None
    fmt: StrictStr | None = None
    activation_scheme: StrictStr | None = None
    weight_block_size: list[int] | None = Field(default=None, max_length=8)

    @classmethod
    def claims(cls, method: str, quantization: Mapping[str, Any]) -> bool:
        """Tell whether a config is fp8 throughout."""
        return super().claims(method, quantization) and not has_nvfp4_experts(quantization)

    @property
    def format_name(self) -> str | None:
        """The float format, such as ``e4m3``."""
        return self.fmt


def has_nvfp4_experts(quantization: Mapping[str, Any]) -> bool:
    """Tell whether the experts of an fp8 checkpoint are NVFP4, as SGLang 0.5.23 does.

    There, "excluded" chooses between two schemes instead of leaving a module alone (srt/configs/model_config.py:
    nvfp4_moe_meta; quantization/modelopt_quant.py: HybridFp8NvFp4Config).
    """
    return (
        str(quantization.get("quant_algo", "")).upper() == "MIXED_PRECISION"
        and str(quantization.get("moe_quant_algo", "")).upper() == "NVFP4"
        and quantization.get("group_size") is not None
    )
