"""A healthy dense Qwen3-like model in block-wise fp8."""

from __future__ import annotations

from pathlib import Path

from builder import formats, layers
from builder.files import write_checkpoint
from builder.layers import Layer, Sizes, under

SIZES = Sizes(hidden=128, heads=2, kv_heads=2, head_dim=64)
INNER = 256
LAYERS = 2

CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "torch_dtype": "bfloat16",
    "hidden_size": SIZES.hidden,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": SIZES.heads,
    "num_key_value_heads": SIZES.kv_heads,
    "head_dim": SIZES.head_dim,
    "attention_bias": False,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-06,
    "rope_theta": 1000000.0,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
    "vocab_size": SIZES.vocab,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "quantization_config": {
        "quant_method": "fp8",
        "fmt": "e4m3",
        "activation_scheme": "dynamic",
        "weight_block_size": [formats.BLOCK, formats.BLOCK],
        "modules_to_not_convert": ["lm_head"],
    },
}


def write(examples: Path) -> None:
    """Write the checkpoint, one file."""
    model = layers.embeddings_and_head(SIZES, "model")
    layer = layers.decoder_layer(SIZES.hidden, _attention(), under("mlp", layers.gated_mlp(SIZES.hidden, INNER)))
    for number in range(LAYERS):
        model |= under(f"model.layers.{number}", layer)
    tensors = formats.checkpoint(model, formats.fp8_block128, lambda module: module.endswith("_proj"))
    write_checkpoint(examples / "qwen3-fp8", CONFIG, [tensors])


def _attention() -> Layer:
    queries, keys = SIZES.heads * SIZES.head_dim, SIZES.kv_heads * SIZES.head_dim
    return under(
        "self_attn",
        {
            "q_proj.weight": (queries, SIZES.hidden),
            "k_proj.weight": (keys, SIZES.hidden),
            "v_proj.weight": (keys, SIZES.hidden),
            "o_proj.weight": (SIZES.hidden, queries),
            "q_norm.weight": (SIZES.head_dim,),
            "k_norm.weight": (SIZES.head_dim,),
        },
    )
