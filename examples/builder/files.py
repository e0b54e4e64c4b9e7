"""Writes checkpoint folders: config.json, safetensors files, and an index where there are several of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from builder.values import Tensor

Tensors: TypeAlias = Mapping[str, Tensor]

_ITEM_BYTES = {"I64": 8, "F32": 4, "I32": 4, "BF16": 2, "F8_E4M3": 1, "U8": 1}


def write_checkpoint(folder: Path, config: Mapping[str, Any], shards: Sequence[Tensors]) -> None:
    """Write a checkpoint as the hub holds it.

    Args:
        folder: Where to write; it is created if need be.
        config: The content of ``config.json``.
        shards: The tensors of each file. One file is called ``model.safetensors`` and has no index.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "config.json", config)
    if len(shards) == 1:
        _write_safetensors(folder / "model.safetensors", shards[0])
        return
    weight_map: dict[str, str] = {}
    for number, tensors in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        _write_safetensors(folder / file, tensors)
        weight_map |= dict.fromkeys(tensors, file)
    total_size = sum(len(tensor.data) for tensors in shards for tensor in tensors.values())
    index = {"metadata": {"total_size": total_size}, "weight_map": dict(sorted(weight_map.items()))}
    _write_json(folder / "model.safetensors.index.json", index)


def _write_safetensors(path: Path, tensors: Tensors) -> None:
    """Write one file by the published format, so that its bytes depend on no library's version.

    Wide dtypes come first, which keeps every tensor aligned; the header is padded with spaces to eight bytes.
    """
    ordered = sorted(tensors.items(), key=lambda item: (-_ITEM_BYTES[item[1].dtype], item[0]))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, tensor in ordered:
        end = start + len(tensor.data)
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(tensor.data for _, tensor in ordered))


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8", newline="\n")
