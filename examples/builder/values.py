"""Repeatable values of a sane magnitude, for every dtype that the examples store.

The bytes of a tensor are a hash of its name, so they are the same on every machine and in every Python, and
the variants of one model agree on the weights that they share. Floating-point values pass through tables of
256 entries, one for each byte of the hash.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from hashlib import shake_128
from math import prod
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a safetensors file holds of one tensor.

    Attributes:
        dtype: The dtype as the file's header spells it, such as ``BF16``.
        shape: Its dimensions.
        data: Its values, row by row and little-endian.
    """

    dtype: str
    shape: tuple[int, ...]
    data: bytes


def _bf16(value: float) -> bytes:
    """Cut a float32 to its upper half, which is bfloat16 rounded towards zero."""
    return struct.pack("<f", value)[2:]


_QUANTILES = tuple(NormalDist(0.0, 0.02).inv_cdf((step + 0.5) / 256) for step in range(256))
_WEIGHTS = tuple(map(_bf16, _QUANTILES))
_INT4_SCALES = tuple(_bf16(0.003 + step / 2**17) for step in range(256))
_FP8_SCALES = tuple(struct.pack("<f", 0.0003 + step / 2**21) for step in range(256))
_FP8_CODES = tuple(bytes([byte & 0x87 | (6 + (byte >> 3 & 7)) << 3]) for byte in range(256))
"""Sign and mantissa of the byte, exponent 6 to 13: between 0.5 and 120, and never the NaN of e4m3."""
_E8M0_CODES = tuple(bytes([120 + byte % 3]) for byte in range(256))
"""Powers of two from 2**-7 to 2**-5; code 127 is 1."""


def _hashed(name: str, count: int) -> bytes:
    return shake_128(name.encode()).digest(count)


def _looked_up(table: tuple[bytes, ...], name: str, shape: tuple[int, ...]) -> bytes:
    return b"".join(map(table.__getitem__, _hashed(name, prod(shape))))


def bf16(name: str, shape: tuple[int, ...]) -> Tensor:
    """Return bfloat16 weights, normally distributed with a standard deviation of 0.02."""
    return Tensor("BF16", shape, _looked_up(_WEIGHTS, name, shape))


def bf16_ones(shape: tuple[int, ...]) -> Tensor:
    """Return bfloat16 ones: the weight of a norm that multiplies by it."""
    return Tensor("BF16", shape, _bf16(1.0) * prod(shape))


def bf16_scales(name: str, shape: tuple[int, ...]) -> Tensor:
    """Return bfloat16 scales that bring an int4 weight to the magnitude of a bf16 one."""
    return Tensor("BF16", shape, _looked_up(_INT4_SCALES, name, shape))


def int4_in_int32(name: str, shape: tuple[int, int]) -> Tensor:
    """Return a matrix of this shape as int4, eight to an int32 along its rows."""
    rows, columns = shape
    return Tensor("I32", (rows, columns // 8), _hashed(name, rows * columns // 2))


def int64(*values: int) -> Tensor:
    """Return a vector of these integers."""
    return Tensor("I64", (len(values),), struct.pack(f"<{len(values)}q", *values))


def fp4_in_uint8(name: str, shape: tuple[int, int]) -> Tensor:
    """Return a matrix of this shape as fp4 (e2m1), two to a byte along its rows."""
    rows, columns = shape
    return Tensor("U8", (rows, columns // 2), _hashed(name, rows * columns // 2))


def e8m0_scales(name: str, shape: tuple[int, ...]) -> Tensor:
    """Return power-of-two scales, one byte each, that bring an fp4 weight to the magnitude of a bf16 one."""
    return Tensor("U8", shape, _looked_up(_E8M0_CODES, name, shape))


def fp8(name: str, shape: tuple[int, ...]) -> Tensor:
    """Return fp8 (e4m3) values between 0.5 and 120 on either side of zero."""
    return Tensor("F8_E4M3", shape, _looked_up(_FP8_CODES, name, shape))


def f32_scales(name: str, shape: tuple[int, ...]) -> Tensor:
    """Return float32 scales that bring an fp8 weight to the magnitude of a bf16 one."""
    return Tensor("F32", shape, _looked_up(_FP8_SCALES, name, shape))
