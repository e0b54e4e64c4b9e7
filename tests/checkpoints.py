"""Writes small, real safetensors checkpoints without torch, for every room's tests.

The data is all zeros and sparse, so that even a tensor of a terabyte costs no disk and no time.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

Tensors: TypeAlias = Mapping[str, tuple[str, Sequence[int]]]
"""A tensor's name to its dtype (as in a header, in either case: ``"bf16"``, ``"F8_E4M3"``) and its shape."""

_BITS = {
    1 << 6: ("C64", "F64", "I64", "U64"),
    1 << 5: ("F32", "I32", "U32"),
    1 << 4: ("BF16", "F16", "I16", "U16"),
    1 << 3: ("BOOL", "I8", "U8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"),
    6: ("F6_E2M3", "F6_E3M2"),
    4: ("F4",),
}
BITS = {dtype: bits for bits, dtypes in _BITS.items() for dtype in dtypes}


def header_of(tensors: Tensors, metadata: Mapping[str, str] | None = None) -> tuple[dict[str, Any], int]:
    """A safetensors header as a dictionary, and the number of data bytes that follow it."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    offset = 0
    for name, (dtype, shape) in tensors.items():
        end = offset + prod(shape) * BITS[dtype.upper()] // 8
        header[name] = {"dtype": dtype.upper(), "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    return header, offset


def write_raw(path: Path, header: bytes, data_bytes: int = 0, length: int | None = None) -> Path:
    """Write a safetensors file with exactly this header, right or wrong.

    Args:
        path: The file to write.
        header: The bytes that follow the length field.
        data_bytes: How many zero bytes follow the header.
        length: What the length field says, if not the header's true length.
    """
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header) if length is None else length) + header)
        file.truncate(8 + len(header) + data_bytes)
    return path


def write_safetensors(path: Path, tensors: Tensors, metadata: Mapping[str, str] | None = None) -> Path:
    """Write one safetensors file whose tensors are all zeros."""
    header, data_bytes = header_of(tensors, metadata)
    text = json.dumps(header, separators=(",", ":")).encode()
    return write_raw(path, text + b" " * (-len(text) % 8), data_bytes)


def write_index(folder: Path, weight_map: Mapping[str, str], name: str = "model.safetensors.index.json") -> Path:
    """Write an index file alone: names without dtypes or shapes."""
    return write_json(folder / name, {"metadata": {"total_size": 0}, "weight_map": dict(weight_map)})


def write_json(path: Path, value: object) -> Path:
    """Write a JSON file."""
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def write_checkpoint(
    folder: Path,
    tensors: Tensors,
    config: Mapping[str, Any] | None = None,
    shards: int = 1,
    index: bool = True,
) -> Path:
    """Write a checkpoint folder, as the hub holds it.

    Args:
        folder: Where to write; it is created if need be.
        tensors: The tensors in file order.
        config: The content of ``config.json``; None writes no such file.
        shards: Into how many files the tensors go, in order and in even parts. One file is called
            ``model.safetensors`` and has no index.
        index: Whether several files come with ``model.safetensors.index.json``.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if config is not None:
        write_json(folder / "config.json", config)
    if shards == 1:
        write_safetensors(folder / "model.safetensors", tensors)
        return folder
    rest, weight_map = iter(tensors.items()), {}
    for number in range(shards):
        part = dict(islice(rest, -(-(len(tensors) - len(weight_map)) // (shards - number))))
        file = write_safetensors(folder / f"model-{number + 1:05}-of-{shards:05}.safetensors", part)
        weight_map |= dict.fromkeys(part, file.name)
    if index:
        write_index(folder, weight_map)
    return folder
