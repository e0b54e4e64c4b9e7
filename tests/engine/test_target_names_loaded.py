"""Target names, compared with the real classes: what is stored under another name arrives in the layer that asks."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from engine_process import require_engine

from qpolicy.bind.target_names import target_stored_name
from qpolicy.sglang.architectures_table import engine_names
from qpolicy.sglang.names_probe import probes, reached
from qpolicy.sglang.rehearse_job import Layer, Rehearsed

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import make_architectures as script

pytestmark = pytest.mark.engine

SIGLIP = "vision_tower.vision_model.encoder.layers.0.self_attn"
KIMI = "vision_tower.encoder.blocks.0"
# Names that the classes ask, and where published checkpoints have them.
STORED = {
    "Qwen2VLForConditionalGeneration": {"visual.blocks.0.attn.qkv_proj": "visual.blocks.0.attn.qkv"},
    "Qwen2_5_VLForConditionalGeneration": {"visual.blocks.0.attn.qkv_proj": "visual.blocks.0.attn.qkv"},
    "Qwen3VLForConditionalGeneration": {"model.visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv"},
    "Qwen3VLMoeForConditionalGeneration": {"model.visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv"},
    "Qwen3_5ForConditionalGeneration": {"model.visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv"},
    "Qwen3_5MoeForConditionalGeneration": {"model.visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv"},
    "Qwen4ExpForConditionalGeneration": {"model.visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv"},
    "Glm4vForConditionalGeneration": {
        "visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv",
        "model.layers.0.self_attn.o_proj": "model.language_model.layers.0.self_attn.o_proj",
    },
    "Glm4vMoeForConditionalGeneration": {
        "visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv",
        "language_model.layers.1.self_attn.o_proj": "model.language_model.layers.1.self_attn.o_proj",
    },
    "GlmOcrForConditionalGeneration": {"visual.blocks.0.attn.qkv_proj": "model.visual.blocks.0.attn.qkv"},
    "DotsOCRForCausalLM": {
        "blocks.0.attn.qkv_proj": "vision_tower.blocks.0.attn.qkv",
        "merger.mlp.0": "vision_tower.merger.mlp.0",
    },
    "Lfm2VlForConditionalGeneration": {f"{SIGLIP}.proj": f"model.{SIGLIP}.out_proj"},
    "KimiVLForConditionalGeneration": {f"{KIMI}.attn.qkv_proj": f"{KIMI}.wqkv", f"{KIMI}.attn.proj": f"{KIMI}.wo"},
    "KimiK25ForConditionalGeneration": {
        f"{KIMI}.attn.qkv_proj": f"{KIMI}.wqkv",
        f"{KIMI}.attn.proj": f"{KIMI}.wo",
        "model.layers.0.self_attn.o_proj": "language_model.model.layers.0.self_attn.o_proj",
    },
    "Gemma3ForConditionalGeneration": {f"{SIGLIP}.proj": f"{SIGLIP}.out_proj"},
    "Mistral3ForConditionalGeneration": {
        "vision_tower.transformer.layers.0.attention.proj": "vision_tower.transformer.layers.0.attention.o_proj",
        "model.layers.0.self_attn.o_proj": "language_model.model.layers.0.self_attn.o_proj",
    },
    "MllamaForConditionalGeneration": {
        "vision_model.transformer.layers.0.self_attn.proj": "vision_model.transformer.layers.0.self_attn.o_proj"
    },
    "PaddleOCRVLForConditionalGeneration": {
        "visual.vision_model.encoder.layers.0.self_attn.proj": "visual.vision_model.encoder.layers.0.self_attn.out_proj"
    },
    "Step3p7ForConditionalGeneration": {
        "vision_model.transformer.resblocks.1.attn.proj": "model.vision_model.transformer.resblocks.1.attn.out_proj",
        "language_model.model.layers.0.self_attn.o_proj": "model.language_model.layers.0.self_attn.o_proj",
        "language_model.model.layers.1.self_attn.o_proj": "model.layers.1.self_attn.o_proj",
        "vision_model.transformer.resblocks.0.attn.proj": "vision_model.transformer.resblocks.0.attn.out_proj",
        "vision_model.transformer.resblocks.0.attn.qkv_proj": "vision_model.transformer.resblocks.0.attn",
        "vision_model.transformer.resblocks.0.mlp.fc1": "vision_model.transformer.resblocks.0.mlp.c_fc",
        "vision_model.transformer.resblocks.0.mlp.fc2": "vision_model.transformer.resblocks.0.mlp.c_proj",
    },
    "MixtralForCausalLM": {"layers.0.self_attn.o_proj": "model.layers.0.self_attn.o_proj"},
    "OPTForCausalLM": {"model.layers.0.fc1": "model.decoder.layers.0.fc1"},
    "Qwen2AudioForConditionalGeneration": {
        "model.model.layers.0.self_attn.o_proj": "language_model.model.layers.0.self_attn.o_proj"
    },
    "GlmAsrForConditionalGeneration": {
        "model.layers.0.self_attn.o_proj": "language_model.model.layers.0.self_attn.o_proj"
    },
    "Qwen3OmniMoeForConditionalGeneration": {
        "blocks.0.mlp.linear_fc1": "thinker.visual.blocks.0.mlp.linear_fc1",
        "blocks.0.attn.qkv_proj": "thinker.visual.blocks.0.attn.qkv",
        "audio_tower.proj1": "thinker.audio_tower.proj1",
        "model.language_model.layers.0.self_attn.o_proj": "thinker.model.layers.0.self_attn.o_proj",
    },
    "FalconH1ForCausalLM": {"model.layers.0.mixer.out_proj": "model.layers.0.mamba.out_proj"},
}
CASES = [(arch, asked) for arch, names in STORED.items() for asked in names]

Targets = dict[str, tuple[Rehearsed, Rehearsed]]


@pytest.fixture(scope="module")
def targets() -> Targets:
    """Every model, built once to learn its layers and once more to follow what is stored under the names above."""
    require_engine()
    models = [replace(model, draft=False) for model in script.models() if model.arch in STORED]
    built = {model.arch: result for model, _, result in script.build(models)}
    tensors = {
        arch: [header for asked, stored in names.items() for header in _headers(built[arch], asked, stored)]
        for arch, names in STORED.items()
    }
    followed = {model.arch: result for model, _, result in script.build(models, tensors=tensors)}
    return {arch: (built[arch], followed[arch]) for arch in STORED}


def _headers(result: Rehearsed, asked: str, stored: str) -> list[tuple[str, str, tuple[int, ...]]]:
    shapes = {parameter.name: parameter.shape for parameter in result.parameters}
    own = "in_proj_weight" if stored.endswith(".attn") else "weight"
    made = {name: (dtype, shape) for name, dtype, shape in probes(_layer(result, asked), shapes, {}, stored)}
    return [(f"{stored}.{own}", *made[f"{stored}.weight"])]


def _layer(result: Rehearsed, asked: str) -> Layer:
    assert result.error is None
    names = dict(engine_names(result.layers))
    return next(layer for layer in result.layers if names[layer.path] == asked)


@pytest.mark.parametrize(("arch", "asked"), CASES)
def test_the_layer_is_loaded_from_the_stored_name(targets: Targets, arch: str, asked: str) -> None:
    built, followed = targets[arch]
    stored = STORED[arch][asked]
    assert stored in reached(followed).get(_layer(built, asked).path, set())


@pytest.mark.parametrize(("arch", "asked"), CASES)
def test_the_table_leads_to_the_stored_name(arch: str, asked: str) -> None:
    stored = STORED[arch][asked]
    assert target_stored_name("sglang", asked, {stored}.__contains__) == stored
