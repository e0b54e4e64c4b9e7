"""The tensors of each kind of layer, unquantized, with the shapes that the models' code wants.

Names and shapes follow SGLang 0.5.23: ``models/qwen3_next.py``, ``models/qwen3_5.py``, ``models/qwen3_vl.py`` and
``models/qwen3.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Layer: TypeAlias = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The dimensions of a model, all of them small.

    Attributes:
        hidden: The width of the residual stream.
        heads: Query heads of a full-attention layer.
        kv_heads: Key and value heads of a full-attention layer.
        head_dim: The width of one head, in full and in linear attention.
        expert: The inner width of one routed expert.
        shared_expert: The inner width of the shared expert.
        experts: The number of routed experts of a layer.
        linear_key_heads: Key heads of a linear-attention layer.
        linear_value_heads: Value heads of a linear-attention layer.
        conv_kernel: The width of the convolution of a linear-attention layer.
        vocab: The number of tokens.
    """

    hidden: int
    heads: int = 2
    kv_heads: int = 1
    head_dim: int = 32
    expert: int = 64
    shared_expert: int = 32
    experts: int = 4
    linear_key_heads: int = 1
    linear_value_heads: int = 2
    conv_kernel: int = 4
    vocab: int = 64

    @property
    def linear_key(self) -> int:
        """The width of all keys of a linear-attention layer."""
        return self.linear_key_heads * self.head_dim

    @property
    def linear_value(self) -> int:
        """The width of all values of a linear-attention layer."""
        return self.linear_value_heads * self.head_dim


def under(prefix: str, layer: Layer) -> Layer:
    """Return the layer's tensors with this prefix and a dot before each name."""
    return {f"{prefix}.{name}": shape for name, shape in layer.items()}


def embeddings_and_head(sizes: Sizes, model: str) -> Layer:
    """Return the embeddings and the last norm of ``model``, and an untied ``lm_head``."""
    table = (sizes.vocab, sizes.hidden)
    return {f"{model}.embed_tokens.weight": table, f"{model}.norm.weight": (sizes.hidden,), "lm_head.weight": table}


def gated_attention(sizes: Sizes) -> Layer:
    """Return full attention whose ``q_proj`` also holds the output gate, twice the usual rows."""
    queries, keys = sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim
    return under(
        "self_attn",
        {
            "q_proj.weight": (2 * queries, sizes.hidden),
            "k_proj.weight": (keys, sizes.hidden),
            "v_proj.weight": (keys, sizes.hidden),
            "o_proj.weight": (sizes.hidden, queries),
            "q_norm.weight": (sizes.head_dim,),
            "k_norm.weight": (sizes.head_dim,),
        },
    )


def linear_attention(sizes: Sizes, projections: Layer) -> Layer:
    """Return gated delta-net attention around these input projections, which the models spell differently."""
    channels = 2 * sizes.linear_key + sizes.linear_value
    return under(
        "linear_attn",
        projections
        | {
            "conv1d.weight": (channels, 1, sizes.conv_kernel),
            "A_log": (sizes.linear_value_heads,),
            "dt_bias": (sizes.linear_value_heads,),
            "norm.weight": (sizes.head_dim,),
            "out_proj.weight": (sizes.hidden, sizes.linear_value),
        },
    )


def gated_mlp(hidden: int, inner: int) -> Layer:
    """Return a gate, an up and a down projection."""
    wide = (inner, hidden)
    return {"gate_proj.weight": wide, "up_proj.weight": wide, "down_proj.weight": (hidden, inner)}


def moe(sizes: Sizes) -> Layer:
    """Return a router, the routed experts one by one, and a gated shared expert."""
    layer: Layer = {
        "gate.weight": (sizes.experts, sizes.hidden),
        "shared_expert_gate.weight": (1, sizes.hidden),
    }
    for expert in range(sizes.experts):
        layer |= under(f"experts.{expert}", gated_mlp(sizes.hidden, sizes.expert))
    return under("mlp", layer | under("shared_expert", gated_mlp(sizes.hidden, sizes.shared_expert)))


def decoder_layer(hidden: int, attention: Layer, feed_forward: Layer) -> Layer:
    """Return a whole layer: its two norms around the two parts."""
    norms: Layer = {"input_layernorm.weight": (hidden,), "post_attention_layernorm.weight": (hidden,)}
    return norms | attention | feed_forward


def mtp_head(sizes: Sizes) -> Layer:
    """Return the multi-token-prediction head: one full-attention MoE layer behind a projection."""
    layer = decoder_layer(sizes.hidden, gated_attention(sizes), moe(sizes))
    head: Layer = {"fc.weight": (sizes.hidden, 2 * sizes.hidden)}
    head |= {f"{norm}.weight": (sizes.hidden,) for norm in ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")}
    return under("mtp", head | under("layers.0", layer))


def hybrid_layers(sizes: Sizes, model: str, projections: Layer) -> Layer:
    """Return two MoE layers of ``model``: linear attention first, full attention second."""
    first = decoder_layer(sizes.hidden, linear_attention(sizes, projections), moe(sizes))
    second = decoder_layer(sizes.hidden, gated_attention(sizes), moe(sizes))
    return under(f"{model}.layers.0", first) | under(f"{model}.layers.1", second)


def hybrid_config(sizes: Sizes) -> dict[str, object]:
    """Return what ``config.json`` says of such a model's text part."""
    return {
        "hidden_size": sizes.hidden,
        "intermediate_size": 2 * sizes.hidden,
        "num_hidden_layers": 2,
        "full_attention_interval": 2,
        "layer_types": ["linear_attention", "full_attention"],
        "num_attention_heads": sizes.heads,
        "num_key_value_heads": sizes.kv_heads,
        "head_dim": sizes.head_dim,
        "attn_output_gate": True,
        "vocab_size": sizes.vocab,
        "num_experts": sizes.experts,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": sizes.expert,
        "shared_expert_intermediate_size": sizes.shared_expert,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "norm_topk_prob": True,
        "linear_num_key_heads": sizes.linear_key_heads,
        "linear_num_value_heads": sizes.linear_value_heads,
        "linear_key_head_dim": sizes.head_dim,
        "linear_value_head_dim": sizes.head_dim,
        "linear_conv_kernel_dim": sizes.conv_kernel,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-06,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
