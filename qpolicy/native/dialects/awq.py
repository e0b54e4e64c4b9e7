"""The dialect of AutoAWQ, and of those that write its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import StrictBool, StrictInt

from qpolicy.native.published import Names, Published

# SGLang 0.5.23, sglang/srt/layers/quantization/marlin_utils.py.
_MARLIN_GROUP_SIZES = (-1, 32, 64, 128)


class Awq(Published):
    """A published AWQ config; AutoAWQ before 0.1.8 spelt its settings with ``w_`` and ``q_``."""

    DIALECT = "awq"
    METHODS = ("awq", "awq_marlin")
    LISTS = ("modules_to_not_convert",)
    bits: StrictInt | None = None
    w_bit: StrictInt | None = None
    group_size: StrictInt | None = None
    q_group_size: StrictInt | None = None
    zero_point: StrictBool | None = None
    lm_head: StrictBool | None = None
    modules_to_not_convert: Names = None

    @classmethod
    def claims(cls, method: str, quantization: Mapping[str, Any]) -> bool:
        """Tell whether a config is AutoAWQ's; in a file of its own it once named no method."""
        return super().claims(method, quantization) or ("quant_method" not in quantization and "w_bit" in quantization)

    def variant(self, method: str) -> str:
        """Return ``marlin`` for what SGLang gives its faster class on a GPU, which reads more of the list.

        SGLang 0.5.23, sglang/srt/layers/quantization/awq/awq.py: AWQMarlinConfig.is_awq_marlin_compatible.
        """
        fits = self.bits == 4 and self.group_size in _MARLIN_GROUP_SIZES and self.zero_point is True
        return "marlin" if fits or method.lower() == "awq_marlin" else "plain"
