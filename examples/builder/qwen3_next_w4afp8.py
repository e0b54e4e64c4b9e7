"""A Qwen3-Next-like model in W4AFP8 whose bf16 MTP head its ``ignore`` list forgot."""

from __future__ import annotations

from pathlib import Path

from builder import formats, layers
from builder.files import write_checkpoint
from builder.layers import Sizes

SIZES = Sizes(hidden=128)

QUANTIZATION = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "quantization_status": "compressed",
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {
                "num_bits": 4,
                "type": "int",
                "symmetric": True,
                "strategy": "group",
                "group_size": 32,
                "dynamic": False,
            },
            "input_activations": {
                "num_bits": 8,
                "type": "float",
                "symmetric": True,
                "strategy": "token",
                "dynamic": True,
            },
        }
    },
    "ignore": [
        "lm_head",
        "re:model.*linear_attn.*",
        "re:model.*mlp.gate$",
        "re:model.*shared_expert.*",
        "re:model.*self_attn.*",
    ],
}

CONFIG = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "torch_dtype": "bfloat16",
    **layers.hybrid_config(SIZES),
    "partial_rotary_factor": 0.25,
    "rope_theta": 10000000.0,
    "num_nextn_predict_layers": 1,
    "quantization_config": QUANTIZATION,
}


def write(examples: Path) -> None:
    """Write the checkpoint, two shards of the target and one of the MTP head."""
    target = layers.embeddings_and_head(SIZES, "model") | layers.hybrid_layers(SIZES, "model", _projections(SIZES))
    first = {name: shape for name, shape in target.items() if ".layers.1." not in name}
    second = {name: shape for name, shape in target.items() if name not in first}
    shards = [
        formats.checkpoint(part, formats.int4_group32, _is_packed) for part in (first, second, layers.mtp_head(SIZES))
    ]
    write_checkpoint(examples / "qwen3-next-w4afp8" / "checkpoint", CONFIG, shards)


def _is_packed(module: str) -> bool:
    return module.startswith("model.") and ".mlp.experts." in module


def _projections(sizes: Sizes) -> layers.Layer:
    """Qwen3-Next stores q, k, v and z as one matrix, and b and a as another."""
    return {
        "in_proj_qkvz.weight": (2 * sizes.linear_key + 2 * sizes.linear_value, sizes.hidden),
        "in_proj_ba.weight": (2 * sizes.linear_value_heads, sizes.hidden),
    }
