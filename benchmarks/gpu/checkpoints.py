"""Writes the synthetic checkpoints: two layers in a format, and two plain ones that its list forgets or names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from gpu.formats import LIMIT, PLAIN, Format, Stored

ARCHITECTURE = "QPolicyGpuCheckForCausalLM"
HIDDEN, INNER, EXPERTS, TOP_K = 512, 256, 8, 2
POLICY = "qpolicy 1\n\nwhen not quantized_on_disk: unquantized\n"
PROJECTIONS = {"gate_proj": (INNER, HIDDEN), "up_proj": (INNER, HIDDEN), "down_proj": (HIDDEN, INNER)}
DENSE, MOE, PLAIN_DENSE, PLAIN_MOE = range(4)
"""The numbers of the layers: two as the format stores them, two in bf16."""


@dataclass(frozen=True)
class Written:
    """A checkpoint on disk.

    Attributes:
        folder: Where it lies.
        format: The format of its quantized layers.
        weights: Every module's weight as the stored tensors mean it, in float32.
    """

    folder: Path
    format: Format
    weights: dict[str, Tensor]

    @property
    def layers(self) -> tuple[int, ...]:
        """The numbers of the layers that it holds."""
        return (PLAIN_DENSE, PLAIN_MOE) if self.format.config is None else (DENSE, MOE, PLAIN_DENSE, PLAIN_MOE)


def write(folder: Path, form: Format, *, policy: bool) -> Written:
    """Write a checkpoint.

    Args:
        folder: Where to; it is created.
        form: The format of its quantized layers.
        policy: Whether the plain layers are missing from its list, and a policy beside it says so. Otherwise the list
            names them, as SGLang needs it without a policy.
    """
    folder.mkdir(parents=True)
    written, tensors = Written(folder, form, {}), {}
    generator = torch.Generator().manual_seed(7)
    for layer in written.layers:
        own = form if layer in (DENSE, MOE) else PLAIN
        for name, shape in modules(layer):
            stored = own.store((torch.randn(shape, generator=generator) * LIMIT / 5).clamp(-LIMIT, LIMIT))
            written.weights[name] = own.read(stored)
            tensors |= _named(name, stored)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(_config(form, policy)), encoding="utf-8")
    if policy:
        (folder / "model.qpolicy").write_text(POLICY, encoding="utf-8")
    return written


def modules(layer: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the stored modules of a layer with the shapes of their weights."""
    block = f"model.layers.{layer}.mlp"
    parents = [f"{block}.experts.{number}" for number in range(EXPERTS)] if layer in (MOE, PLAIN_MOE) else [block]
    for parent in parents:
        for leaf, shape in PROJECTIONS.items():
            yield f"{parent}.{leaf}", shape


def excluded() -> list[str]:
    """The entries for the plain layers: every module, and the name by which SGLang asks about experts."""
    plain = [name for layer in (PLAIN_DENSE, PLAIN_MOE) for name, _ in modules(layer)]
    return [*plain, f"model.layers.{PLAIN_MOE}.mlp.experts"]


def _named(module: str, stored: Stored) -> dict[str, Tensor]:
    return {f"{module}.{own}": tensor.contiguous() for own, tensor in stored.items()}


def _config(form: Format, policy: bool) -> dict[str, object]:
    config: dict[str, object] = {
        "architectures": [ARCHITECTURE],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "num_experts": EXPERTS,
        "max_position_embeddings": 128,
        "vocab_size": 128,
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": False,
    }
    if form.config is not None:
        config["quantization_config"] = {**form.config, form.list_key: [] if policy else excluded()}
    return config
