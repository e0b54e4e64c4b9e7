"""How the producers store one weight matrix: plain, or packed with its scales beside it.

A packer takes a module's name and its weight's shape (output features, input features) and returns its tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from builder import values
from builder.values import Tensor

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Tensor names of the unquantized model, with their shapes."""
Packer: TypeAlias = Callable[[str, tuple[int, int]], dict[str, Tensor]]

GROUP = 32
BLOCK = 128


def int4_group32(module: str, shape: tuple[int, int]) -> dict[str, Tensor]:
    """Return the tensors of compressed-tensors' ``pack-quantized`` format at 4 bits and group size 32."""
    rows, columns = shape
    return {
        f"{module}.weight_packed": values.int4_in_int32(f"{module}.weight_packed", shape),
        f"{module}.weight_scale": values.bf16_scales(f"{module}.weight_scale", (rows, columns // GROUP)),
        f"{module}.weight_shape": values.int64(rows, columns),
    }


def mxfp4(module: str, shape: tuple[int, int]) -> dict[str, Tensor]:
    """Return the tensors that Quark exports for MXFP4: the weight keeps its name and becomes uint8."""
    rows, columns = shape
    return {
        f"{module}.weight": values.fp4_in_uint8(f"{module}.weight", shape),
        f"{module}.weight_scale": values.e8m0_scales(f"{module}.weight_scale", (rows, columns // GROUP)),
    }


def fp8_block128(module: str, shape: tuple[int, int]) -> dict[str, Tensor]:
    """Return the tensors of block-wise fp8: one float32 scale for each block of 128 by 128."""
    blocks = tuple(-(-size // BLOCK) for size in shape)
    return {
        f"{module}.weight": values.fp8(f"{module}.weight", shape),
        f"{module}.weight_scale_inv": values.f32_scales(f"{module}.weight_scale_inv", blocks),
    }


def checkpoint(shapes: Shapes, packer: Packer, packed: Callable[[str], bool]) -> dict[str, Tensor]:
    """Return a model's tensors, some modules packed and the rest in bf16.

    Args:
        shapes: Every tensor of the unquantized model.
        packer: How a packed module is stored.
        packed: Whether the module with this name is packed.
    """
    tensors: dict[str, Tensor] = {}
    for name, shape in shapes.items():
        module, _, leaf = name.rpartition(".")
        if leaf == "weight" and packed(module):
            rows, columns = shape
            tensors |= packer(module, (rows, columns))
        else:
            tensors[name] = _plain(name, shape)
    return tensors


def _plain(name: str, shape: tuple[int, ...]) -> Tensor:
    multiplies = "norm" in name.split(".")[-2] and name.endswith(".weight")
    return values.bf16_ones(shape) if multiplies else values.bf16(name, shape)
