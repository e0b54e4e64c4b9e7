"""The model that SGLang's loader builds for the check: dense and MoE layers of SGLang, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sglang.srt.layers.linear import MergedColumnParallelLinear, RowParallelLinear
from sglang.srt.layers.moe.fused_moe_triton.layer import FusedMoE
from torch import nn

from gpu.checkpoints import ARCHITECTURE, DENSE, EXPERTS, HIDDEN, INNER, MOE, PLAIN_DENSE, PLAIN_MOE, TOP_K

GATE_UP = {"gate_proj": 0, "up_proj": 1}


class Dense(nn.Module):
    """A gated MLP's two linear layers."""

    def __init__(self, quant_config: Any, prefix: str) -> None:
        super().__init__()
        common = {"bias": False, "quant_config": quant_config}
        self.gate_up_proj = MergedColumnParallelLinear(HIDDEN, [INNER] * 2, prefix=f"{prefix}.gate_up_proj", **common)
        self.down_proj = RowParallelLinear(INNER, HIDDEN, prefix=f"{prefix}.down_proj", **common)


class Sparse(nn.Module):
    """A block of experts."""

    def __init__(self, quant_config: Any, prefix: str, layer: int) -> None:
        super().__init__()
        self.experts = FusedMoE(
            num_experts=EXPERTS,
            top_k=TOP_K,
            hidden_size=HIDDEN,
            intermediate_size=INNER,
            layer_id=layer,
            quant_config=quant_config,
            prefix=f"{prefix}.experts",
        )


class Model(nn.Module):
    """Four layers; two of them only where the checkpoint has a quantization config."""

    packed_modules_mapping = {"gate_up_proj": ["gate_proj", "up_proj"]}  # noqa: RUF012 - SGLang reads it so

    def __init__(self, config: Any, quant_config: Any = None, prefix: str = "") -> None:
        super().__init__()
        self.quant_config = quant_config
        quantized = getattr(config, "quantization_config", None) is not None
        layers = [DENSE, MOE, PLAIN_DENSE, PLAIN_MOE] if quantized else [PLAIN_DENSE, PLAIN_MOE]
        self.blocks = nn.ModuleDict({str(layer): _block(quant_config, layer) for layer in layers})

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """Load as SGLang's own models do: shards of fused layers by number, experts by SGLang's own mapping."""
        experts = FusedMoE.make_expert_params_mapping("gate_proj", "down_proj", "up_proj", EXPERTS)
        parameters = dict(self.named_parameters())
        for stored, tensor in weights:
            name = stored.replace("model.layers.", "blocks.").replace(".mlp.", ".")
            own, arguments = _target(name, experts)
            parameters[own].weight_loader(parameters[own], tensor, *arguments[0], **arguments[1])


def _block(quant_config: Any, layer: int) -> nn.Module:
    prefix = f"model.layers.{layer}.mlp"
    return Sparse(quant_config, prefix, layer) if layer in (MOE, PLAIN_MOE) else Dense(quant_config, prefix)


def _target(name: str, experts: Any) -> tuple[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """Return the parameter that a tensor belongs to, and what its loader is told besides."""
    for parameter, stored, number, shard in experts:
        if stored in name:
            own = name.replace(stored, parameter)
            return own, ((own,), {"shard_id": shard, "expert_id": number})
    for leaf, shard in GATE_UP.items():
        if f".{leaf}." in name:
            return name.replace(leaf, "gate_up_proj"), ((shard,), {})
    return name, ((), {})


def register() -> None:
    """Make the model known to SGLang's registry."""
    from sglang.srt.models.registry import ModelRegistry  # noqa: PLC0415 - imports every model

    ModelRegistry.models[ARCHITECTURE] = Model
