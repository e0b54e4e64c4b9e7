"""The dialect of checkpoints whose experts are NVFP4 and whose other layers are fp8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qpolicy.native.dialects import fp8


class Fp8WithNvfp4Experts(fp8.Fp8):
    """A published config of such a checkpoint.

    ``ignore`` names the experts that are not NVFP4; the lists of fp8 are about all other layers. SGLang 0.5.23 takes a
    config for one by these keys (srt/configs/model_config.py: nvfp4_moe_meta).
    """

    DIALECT = "fp8-nvfp4"
    quant_algo: str | None = None
    moe_quant_algo: str | None = None
    group_size: int | None = None

    @classmethod
    def claims(cls, method: str, quantization: Mapping[str, Any]) -> bool:
        """Tell whether experts have a scheme of their own."""
        return method.lower() in cls.METHODS and fp8.has_nvfp4_experts(quantization)
