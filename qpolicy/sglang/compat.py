"""What the plugin asks of the installed SGLang: everything here probes for what is there, and compares no versions.

Import this module only inside an SGLang process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sglang.srt.layers.linear import LinearBase
from sglang.srt.layers.moe.fused_moe_triton.layer import FusedMoE
from sglang.srt.layers.quantization import unquant
from sglang.srt.layers.quantization.base_config import QuantizationConfig
from sglang.srt.layers.quantization.kv_cache import BaseKVCacheMethod
from sglang.srt.layers.radix_attention import RadixAttention
from sglang.srt.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding

# A head is an embedding too, so it comes first.
_KINDS: tuple[tuple[Any, str], ...] = (
    (LinearBase, "linear"),
    (FusedMoE, "moe"),
    (ParallelLMHead, "lm_head"),
    (VocabParallelEmbedding, "embedding"),
    (RadixAttention, "attention"),
)
_PLAIN = (unquant.UnquantizedLinearMethod, unquant.UnquantizedFusedMoEMethod, unquant.UnquantizedEmbeddingMethod)

PROBES_LINEARS = hasattr(QuantizationConfig, "is_linear_unquantized")
"""Whether models may ask a config about a linear layer before there is one (not in SGLang 0.5.16)."""


def kind_of(layer: Any) -> str | None:
    """Return the kind of a layer, or None for one that no policy speaks of."""
    return next((kind for layer_class, kind in _KINDS if isinstance(layer, layer_class)), None)


def fuses_shared(layer: Any) -> bool:
    """Whether an experts layer has the shared experts for one more of its experts.

    SGLang decides that while it builds: by the architecture, the device and the server's arguments.
    """
    return bool(getattr(layer, "num_fused_shared_experts", 0))


def is_probe(layer: Any) -> bool:
    """Whether a layer only asks a question.

    ``is_linear_unquantized`` makes a ``LinearBase`` for that; real layers are of its subclasses.
    """
    return type(layer) is LinearBase


def plain_method(kind: str) -> Any:
    """Return what a config answers for a layer that stays unquantized.

    A linear layer needs the method itself; the other constructors put their own in the place of None.
    """
    return unquant.UnquantizedLinearMethod() if kind == "linear" else None


def default_method(layer: Any) -> Any:
    """Return the unquantized method that a layer's constructor fills in for None."""
    return unquant.UnquantizedFusedMoEMethod() if kind_of(layer) == "moe" else unquant.UnquantizedEmbeddingMethod()


def is_plain(method: Any) -> bool:
    """Whether a method, or None, builds plain weights."""
    return method is None or isinstance(method, _PLAIN)


def owns_weights(method: Any) -> bool:
    """Whether a method has weights of its own; a KV cache has only scales."""
    return not isinstance(method, BaseKVCacheMethod)


def packed_mapping(config: Any, model_class: Any) -> Mapping[str, Sequence[str]]:
    """Return fused names with their parts, as they are now: models replace the mapping while they are built.

    Args:
        config: The quantization config, or None.
        model_class: The class of the model under construction, or None.
    """
    mapping = getattr(config, "packed_modules_mapping", None) or getattr(model_class, "packed_modules_mapping", None)
    # On NPUs the mapping holds one mapping for each sub-model besides.
    return {fused: tuple(parts) for fused, parts in (mapping or {}).items() if isinstance(parts, list | tuple)}


def name_mapper(model_class: Any, hf_config: Any) -> Any:
    """Return the object that rewrites stored names as the model class does, or None."""
    get = getattr(model_class, "get_hf_to_sglang_mapper", None)
    return getattr(model_class, "hf_to_sglang_mapper", None) if get is None else get(hf_config)


def draft_layer(load_config: Any) -> int:
    """Return which layer of a draft is built; SGLang builds some drafts layer by layer from one checkpoint."""
    return int(getattr(load_config, "draft_model_idx", None) or 0)


def model_class_of(model_config: Any) -> Any:
    """Return the class that SGLang will build for a config."""
    from sglang.srt.model_loader.loader import get_model_architecture  # noqa: PLC0415 - the loader imports the models

    return get_model_architecture(model_config)[0]


def gather(value: Any) -> list[Any]:
    """Return this value of every rank that builds the same model part, by rank; of this one alone without ranks."""
    import torch.distributed  # noqa: PLC0415
    from sglang.srt.distributed import parallel_state  # noqa: PLC0415

    if not torch.distributed.is_initialized():
        return [value]
    try:
        group = parallel_state.get_tp_group()
    except (AssertionError, AttributeError):
        return [value]
    # A rehearsal counts ranks that do not exist; they can neither agree nor differ.
    if group is None or group.world_size == 1 or torch.distributed.get_backend(group.cpu_group) == "fake":
        return [value]
    values: list[Any] = [None] * group.world_size
    torch.distributed.all_gather_object(values, value, group=group.cpu_group)
    return values
