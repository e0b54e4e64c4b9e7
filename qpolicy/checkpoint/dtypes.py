"""The element types that a safetensors header may name."""

from __future__ import annotations

from types import MappingProxyType

# safetensors 0.8.0, safetensors/src/tensor.rs, enum Dtype: every type and its width.
_WIDTHS = {
    4: ("F4",),
    6: ("F6_E2M3", "F6_E3M2"),
    8: ("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"),
    16: ("I16", "U16", "F16", "BF16"),
    32: ("I32", "U32", "F32"),
    64: ("C64", "F64", "I64", "U64"),
}

BITS = MappingProxyType({dtype: bits for bits, dtypes in _WIDTHS.items() for dtype in dtypes})
"""A header's type name to the bits of one element; a tensor of a narrow type is packed without gaps."""

DTYPES = frozenset(dtype.lower() for dtype in BITS)
"""The same names in lower case, as qpolicy writes them everywhere else."""

PACKED_DTYPES = frozenset(
    {"bool", "u8", "i8", "u16", "i16", "u32", "i32", "f4", "f6_e2m3", "f6_e3m2"}
    | {dtype for dtype in DTYPES if dtype.startswith("f8_")}
)
"""The types in which a weight is only ever stored because it is quantized.

64-bit integers are not among them: those are tables of positions and the like.
"""
