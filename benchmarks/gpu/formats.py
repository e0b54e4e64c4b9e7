"""The formats that are checked: how each stores a weight, what its config says, and what the stored tensors mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

FP8 = torch.float8_e4m3fn
FP8_MAX = 448.0
BLOCK = 128
GROUP = 128
LIMIT = 0.25
"""No weight is larger, so that one scale per tensor serves every shard of a fused layer."""

PLAIN_TOLERANCE = 0.01
FP8_TOLERANCE = 0.06
"""Largest relative error, as a ratio of norms.

A bf16 result differs from the exact one by at most 2^-9, and experts round twice on the way. fp8 has three bits of
mantissa: rounding the activations costs about 0.026, twice for experts, whose intermediate values are rounded too. The
weights are compared as they are stored, so their own rounding counts for nothing.
"""

Stored = dict[str, Tensor]


@dataclass(frozen=True)
class Format:
    """One way to store the weights of a quantized layer.

    Attributes:
        name: What the table calls it.
        config: Its quantization config without a list, or None for a checkpoint without one.
        store: From a weight ``[out, in]`` to the module's tensors.
        read: From the module's tensors to the weight that they mean, in float32.
        tolerance: The largest relative error of a layer in this format.
        list_key: The key of the list of excluded modules.
    """

    name: str
    config: Mapping[str, Any] | None
    store: Callable[[Tensor], Stored]
    read: Callable[[Stored], Tensor]
    tolerance: float
    list_key: str = ""


def store_plain(weight: Tensor) -> Stored:
    return {"weight": weight.bfloat16()}


def read_plain(stored: Stored) -> Tensor:
    return stored["weight"].float()


def store_fp8_block(weight: Tensor) -> Stored:
    blocks = _blocks(weight)
    scale = blocks.abs().amax(dim=(1, 3)) / FP8_MAX
    quantized = (blocks / scale[:, None, :, None]).to(FP8)
    return {"weight": quantized.reshape(weight.shape), "weight_scale_inv": scale}


def read_fp8_block(stored: Stored) -> Tensor:
    weight = stored["weight"].float()
    return (_blocks(weight) * stored["weight_scale_inv"][:, None, :, None]).reshape(weight.shape)


def store_fp8_tensor(weight: Tensor) -> Stored:
    scale = torch.tensor(LIMIT / FP8_MAX)
    return {"weight": (weight / scale).to(FP8), "weight_scale": scale}


def store_fp8_channel(weight: Tensor) -> Stored:
    scale = weight.abs().amax(dim=1, keepdim=True) / FP8_MAX
    return {"weight": (weight / scale).to(FP8), "weight_scale": scale}


def read_fp8(stored: Stored) -> Tensor:
    return stored["weight"].float() * stored["weight_scale"].float()


def store_int4(weight: Tensor) -> Stored:
    """Pack eight values of four bits into an int32, the first in the lowest bits, each with 8 added to it.

    compressed-tensors 0.18.0: compressors/pack_quantized/helpers.py, ``pack_to_int32``.
    """
    out, width = weight.shape
    groups = weight.reshape(out, width // GROUP, GROUP)
    scale = (groups.abs().amax(dim=2) / 7).bfloat16()
    values = (groups / scale.float()[:, :, None]).round().clamp(-8, 7).to(torch.int64) + 8
    nibbles = values.reshape(out, width // 8, 8) << torch.arange(0, 32, 4)
    packed = nibbles.sum(dim=2)
    signed = torch.where(packed >= 2**31, packed - 2**32, packed).to(torch.int32)
    return {"weight_packed": signed, "weight_scale": scale, "weight_shape": torch.tensor([out, width])}


def read_int4(stored: Stored) -> Tensor:
    packed, scale = stored["weight_packed"].to(torch.int64), stored["weight_scale"].float()
    values = ((packed[:, :, None] >> torch.arange(0, 32, 4)) & 15) - 8
    return values.reshape(len(packed), -1).float() * scale.repeat_interleave(GROUP, dim=1)


def _blocks(weight: Tensor) -> Tensor:
    out, width = weight.shape
    return weight.reshape(out // BLOCK, BLOCK, width // BLOCK, BLOCK)


def _fp8_config(**more: Any) -> dict[str, Any]:
    return {"quant_method": "fp8", "activation_scheme": "dynamic", **more}


def _compressed(form: str, weights: Mapping[str, Any], activations: Mapping[str, Any] | None) -> dict[str, Any]:
    common = {"symmetric": True, "dynamic": False}
    group = {"targets": ["Linear"], "weights": {**common, **weights}, "input_activations": activations}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


_INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": GROUP}
_CHANNEL = {"num_bits": 8, "type": "float", "strategy": "channel"}
_TOKEN = {"num_bits": 8, "type": "float", "strategy": "token", "symmetric": True, "dynamic": True}
_CONVERT = "modules_to_not_convert"

PLAIN = Format("unquantized", None, store_plain, read_plain, PLAIN_TOLERANCE)
FORMATS = (
    PLAIN,
    Format(
        "fp8-block",
        _fp8_config(weight_block_size=[BLOCK, BLOCK]),
        store_fp8_block,
        read_fp8_block,
        FP8_TOLERANCE,
        _CONVERT,
    ),
    Format("fp8-tensor", _fp8_config(), store_fp8_tensor, read_fp8, FP8_TOLERANCE, _CONVERT),
    Format("ct-w4a16", _compressed("pack-quantized", _INT4, None), store_int4, read_int4, PLAIN_TOLERANCE, "ignore"),
    Format(
        "ct-w8a8-fp8",
        _compressed("float-quantized", _CHANNEL, _TOKEN),
        store_fp8_channel,
        read_fp8,
        FP8_TOLERANCE,
        "ignore",
    ),
)
