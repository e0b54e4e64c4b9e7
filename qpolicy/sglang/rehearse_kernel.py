"""What a quantization method says about the kernel that it will run."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

_FLAGS = ("use_marlin", "use_flashinfer_trtllm_moe", "use_deep_gemm", "use_cutlass_fused_experts_fp8", "block_quant")
_CHOICES = ("kernel", "w8a8_block_fp8_linear", "runner", "moe_runner_backend", "linear_backend", "quant_type")
_FOR_ALL = {"ModelOptFp4LinearMethod": ("sglang.srt.layers.quantization.fp4_utils", "get_fp4_gemm_runner_backend")}
"""Methods that ask at every call for a choice that is made once for all layers, and where they ask."""


def kernel_of(module: Any) -> str:
    """Return the kernel choice that a layer's method and scheme have made by now, or an empty string.

    SGLang has no one place for it; these are the attributes in which the methods of sglang 0.5.23
    (srt/layers/quantization) keep a choice that is made while the layer is built.
    """
    holders = (getattr(module, "quant_method", None), getattr(module, "scheme", None))
    return ", ".join(dict.fromkeys(part for holder in holders for part in _choices(holder) if part))


def _choices(holder: Any) -> Iterator[str]:
    yield from (flag for flag in _FLAGS if getattr(holder, flag, False) is True)
    yield from (_called(getattr(holder, choice, None)) for choice in _CHOICES)
    where = _FOR_ALL.get(type(holder).__name__)
    if where is not None:
        yield _called(getattr(import_module(where[0]), where[1], lambda: None)())


def _called(choice: Any) -> str:
    if choice is None:
        return ""
    named = _named(choice)
    return named or " ".join(filter(None, (type(choice).__name__, _named(getattr(choice, "runner_backend", None)))))


def _named(choice: Any) -> str:
    names = (choice, *(getattr(choice, name, None) for name in ("__name__", "value", "name")))
    return next((name for name in names if isinstance(name, str)), "")
