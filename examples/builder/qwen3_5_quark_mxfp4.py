"""A Qwen3.5-like model in Quark's MXFP4 whose ``exclude`` list treats the MTP head in four ways.

What each list says of the target is the same: only the routed experts are packed. The tensors of the MTP head
follow the list, so each variant is what its producer meant to publish.
"""

from __future__ import annotations

from pathlib import Path

from builder import formats, layers
from builder.files import write_checkpoint
from builder.layers import Layer, Sizes, under

SIZES = Sizes(hidden=64)
VISION_HIDDEN, VISION_INNER, PATCH, FRAMES, MERGE, POSITIONS = 32, 64, 4, 2, 2, 16
MODEL = "model.language_model"
DRAFT_LAYER = "mtp.layers.0"

FP4 = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}
MXFP4 = {
    "weight": FP4 | {"is_dynamic": False},
    "input_tensors": FP4 | {"is_dynamic": True},
    "output_tensors": None,
    "bias": None,
}

DRAFT_DENSE = [
    "mtp.fc",
    *(f"{DRAFT_LAYER}.self_attn.{part}_proj" for part in "qkvo"),
    f"{DRAFT_LAYER}.mlp.gate",
    f"{DRAFT_LAYER}.mlp.shared_expert_gate",
    *(f"{DRAFT_LAYER}.mlp.shared_expert.{part}_proj" for part in ("gate", "up", "down")),
]
DRAFT_EXPERTS = [
    f"{DRAFT_LAYER}.mlp.experts.{expert}.{part}_proj"
    for expert in range(SIZES.experts)
    for part in ("gate", "up", "down")
]
DRAFT_EXCLUDES = {
    "full": DRAFT_DENSE + DRAFT_EXPERTS,
    "dense-only": DRAFT_DENSE,
    "one-expert": DRAFT_DENSE + DRAFT_EXPERTS[-1:],
    "lookalike": [*DRAFT_DENSE, f"{DRAFT_LAYER}.mlp.experts_something"],
}
"""What each variant's list excludes of the MTP head."""


def write(examples: Path) -> None:
    """Write the four variants, each in a folder of its own."""
    model = _model()
    kept = [name for name in _matrices(model) if not name.startswith("mtp.") and ".mlp.experts." not in name]
    for variant, draft_excludes in DRAFT_EXCLUDES.items():
        exclude = kept + draft_excludes
        packed = {name for name in _matrices(model) if ".mlp.experts." in name and name not in draft_excludes}
        tensors = formats.checkpoint(model, formats.mxfp4, packed.__contains__)
        write_checkpoint(examples / "qwen3.5-quark-mxfp4" / variant, _config(exclude), [tensors])


def _matrices(model: Layer) -> list[str]:
    """The modules that a producer could quantize: two-dimensional weights, except embeddings."""
    matrices = (name.removesuffix(".weight") for name, shape in model.items() if len(shape) == 2)
    return [name for name in matrices if not name.endswith("embed_tokens") and not name.endswith("pos_embed")]


def _model() -> Layer:
    projections: Layer = {
        "in_proj_qkv.weight": (2 * SIZES.linear_key + SIZES.linear_value, SIZES.hidden),
        "in_proj_z.weight": (SIZES.linear_value, SIZES.hidden),
        "in_proj_b.weight": (SIZES.linear_value_heads, SIZES.hidden),
        "in_proj_a.weight": (SIZES.linear_value_heads, SIZES.hidden),
    }
    text = layers.embeddings_and_head(SIZES, MODEL) | layers.hybrid_layers(SIZES, MODEL, projections)
    return text | under("model.visual", _vision()) | layers.mtp_head(SIZES)


def _vision() -> Layer:
    """A vision tower of one block, and the merger that brings its patches to the text's width."""
    merged = VISION_HIDDEN * MERGE**2
    linear = {
        "blocks.0.attn.qkv": (3 * VISION_HIDDEN, VISION_HIDDEN),
        "blocks.0.attn.proj": (VISION_HIDDEN, VISION_HIDDEN),
        "blocks.0.mlp.linear_fc1": (VISION_INNER, VISION_HIDDEN),
        "blocks.0.mlp.linear_fc2": (VISION_HIDDEN, VISION_INNER),
        "merger.linear_fc1": (merged, merged),
        "merger.linear_fc2": (SIZES.hidden, merged),
    }
    tower: Layer = {
        "patch_embed.proj.weight": (VISION_HIDDEN, 3, FRAMES, PATCH, PATCH),
        "patch_embed.proj.bias": (VISION_HIDDEN,),
        "pos_embed.weight": (POSITIONS, VISION_HIDDEN),
    }
    for name, shape in linear.items():
        tower |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for norm in ("blocks.0.norm1", "blocks.0.norm2", "merger.norm"):
        tower |= {f"{norm}.weight": (VISION_HIDDEN,), f"{norm}.bias": (VISION_HIDDEN,)}
    return tower


def _config(exclude: list[str]) -> dict[str, object]:
    text = {
        "model_type": "qwen3_5_moe_text",
        "dtype": "bfloat16",
        **layers.hybrid_config(SIZES),
        "mtp_num_hidden_layers": 1,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000000.0,
            "partial_rotary_factor": 0.25,
            "mrope_section": [1, 1, 2],
            "mrope_interleaved": True,
        },
    }
    vision = {
        "model_type": "qwen3_5_moe",
        "depth": 1,
        "hidden_size": VISION_HIDDEN,
        "num_heads": 1,
        "intermediate_size": VISION_INNER,
        "out_hidden_size": SIZES.hidden,
        "patch_size": PATCH,
        "temporal_patch_size": FRAMES,
        "spatial_merge_size": MERGE,
        "num_position_embeddings": POSITIONS,
        "in_channels": 3,
        "deepstack_visual_indexes": [],
    }
    return {
        "architectures": ["Qwen3_5MoeForConditionalGeneration"],
        "model_type": "qwen3_5_moe",
        "dtype": "bfloat16",
        "tie_word_embeddings": False,
        "text_config": text,
        "vision_config": vision,
        "quantization_config": {
            "quant_method": "quark",
            "export": {"kv_cache_group": [], "pack_method": "reorder", "weight_format": "real_quantized"},
            "global_quant_config": MXFP4,
            "exclude": exclude,
            "layer_quant_config": {},
            "layer_type_quant_config": {},
        },
    }
