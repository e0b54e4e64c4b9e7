"""Rebuilds checkpoints from published configs: what the list names is plain, what an engine builds beside it is packed.

Only headers of tensors are needed, so a checkpoint of a trillion parameters is a file of a few megabytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkpoints import write_checkpoint
from small import STATES

import qpolicy

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
EXPERTS = 8
"""How many experts each layer gets; the names of 512 differ in nothing else."""

_MOE = ("gate_proj", "up_proj", "down_proj")
_SWIGLU = tuple(f"mlp.{name}" for name in _MOE)
_SHARED = tuple(f"mlp.shared_expert.{name}" for name in _MOE)
_ATTENTION = tuple(f"self_attn.{name}_proj" for name in "qkvo")
_LINEAR = tuple(f"linear_attn.{name}" for name in ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj"))
_QWEN_MLP = ("mlp.gate", "mlp.shared_expert_gate", *_SHARED)
_MLA = tuple(f"self_attn.{name}" for name in ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"))
_INDEXER = ("self_attn.indexers_proj", "self_attn.indexer.wq_b", "self_attn.indexer.wk")
_GLM_MLP = ("mlp.gate", *(f"mlp.shared_experts.{name}" for name in _MOE))


@dataclass(frozen=True)
class Model:
    """A published config with the modules that its model has.

    Attributes:
        file: The config's file name.
        entries: How long its list is.
        packed: The state of what the list does not name.
        modules: Yields the names of the linear layers and experts, from the number of layers on.
    """

    file: str
    entries: int
    packed: str
    modules: Any


def _experts(stem: str) -> Iterator[str]:
    return (f"{stem}.mlp.experts.{number}.{name}" for number in range(EXPERTS) for name in _MOE)


def _under(stem: str, names: Sequence[str]) -> Iterator[str]:
    return (f"{stem}.{name}" for name in names)


def _qwen_layers(stem: str, layers: int) -> Iterator[str]:
    for layer in range(layers):
        attention = _ATTENTION if layer % 4 == 3 else _LINEAR
        yield from _under(f"{stem}.{layer}", (*attention, *_QWEN_MLP))
        yield from _experts(f"{stem}.{layer}")


def qwen(layers: int) -> Iterator[str]:
    """Qwen3.8 with its MTP head."""
    yield from ("lm_head", "model.embed_tokens", "mtp.fc")
    yield from _qwen_layers("model.layers", layers)
    yield from _under("mtp.layers.0", (*_ATTENTION, *_QWEN_MLP))
    yield from _experts("mtp.layers.0")


def qwen_vision(layers: int) -> Iterator[str]:
    """Qwen3.5 with its vision tower."""
    yield from ("lm_head", "model.language_model.embed_tokens")
    yield from _qwen_layers("model.language_model.layers", layers)
    for block in range(27):
        yield from _under(f"model.visual.blocks.{block}", ("attn.qkv", "attn.proj", "mlp.linear_fc1", "mlp.linear_fc2"))
    yield from _under("model.visual.merger", ("linear_fc1", "linear_fc2"))


def glm(layers: int) -> Iterator[str]:
    """GLM 5.1, whose MTP head is the layer behind the last one."""
    yield from ("lm_head", "model.embed_tokens", f"model.layers.{layers}.eh_proj")
    for layer in range(layers + 1):
        stem = f"model.layers.{layer}"
        yield from _under(stem, (*_MLA, *_INDEXER, *(_SWIGLU if layer < 3 else _GLM_MLP)))
        yield from _experts(stem) if layer >= 3 else ()


MODELS = (
    Model("Qwen__Qwen3.8-2.4T-A95B-FP8_config.json", 978, "fp8", qwen),
    Model("zai-org__GLM-5.1-FP8_config.json", 712, "fp8", glm),
    Model("nvfp4-lora-spark__qwen3_5_moe-config.json", 387, "packed", qwen_vision),
)


def rebuilt(folder: Path, model: Model) -> qpolicy.Checkpoint:
    """Write and open the checkpoint that a published config speaks of."""
    config = json.loads((CORPUS / "configs" / model.file).read_bytes())
    listed = frozenset(entries(config))
    states = _states(model, listed, config.get("text_config", config)["num_hidden_layers"])
    tensors = {f"{name}.{own}": form for name, state in states.items() for own, form in STATES[state].items()}
    return qpolicy.open_checkpoint(write_checkpoint(folder, tensors, config))


def _states(model: Model, listed: frozenset[str], layers: int) -> dict[str, str]:
    states = {name: "plain" if name in listed else model.packed for name in model.modules(layers)}
    states |= {name: "plain" for name in states if name.endswith("embed_tokens")}
    return states | dict.fromkeys(listed - states.keys(), "norm")


def entries(config: Mapping[str, Any]) -> Sequence[str]:
    """Return a config's list."""
    quantization = config["quantization_config"]
    found = quantization.get("ignore") or quantization.get("modules_to_not_convert")
    assert isinstance(found, list)
    return found
