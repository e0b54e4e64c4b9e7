"""What a quantization method says about the kernel that it will run."""

from __future__ import annotations

from typing import Any

_FLAGS = ("use_marlin", "use_flashinfer_trtllm_moe", "use_deep_gemm", "use_cutlass_fused_experts_fp8", "block_quant")
_CHOICES = ("kernel", "w8a8_block_fp8_linear", "runner", "moe_runner_backend", "linear_backend", "quant_type")


def kernel_of(module: Any) -> str:
    """Return the kernel choice that a layer's method and scheme have made by now, or an empty string.

    SGLang has no one place for it; these are the attributes in which the methods of sglang 0.5.23
    (srt/layers/quantization) keep a choice that is made while the layer is built.
    """
    parts = []
    for holder in (getattr(module, "quant_method", None), getattr(module, "scheme", None)):
        parts += [flag for flag in _FLAGS if getattr(holder, flag, False) is True]
        parts += [named for choice in _CHOICES if (named := _called(getattr(holder, choice, None)))]
    return ", ".join(dict.fromkeys(parts))


def _called(choice: Any) -> str:
    if choice is None:
        return ""
    if isinstance(choice, str):
        return choice
    return str(getattr(choice, "__name__", None) or getattr(choice, "name", None) or type(choice).__name__)
