"""SGLang's own rules for building a draft without a quantization config, and our rows, agree."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from qpolicy.native import draft_class, draft_nulling, read_config

pytestmark = pytest.mark.engine

MTP_NAMES = (
    "lm_head",
    "mtp.fc",
    "mtp.layers.0.mlp.experts.3.up_proj",
    "mtp.layers.0.mlp.experts",
    "mtp.layers.0.mlp.experts_something",
    "mtp.layers.0.self_attn.q_proj",
    "model.mtp.layers.0.mlp.experts",
    "re:mtp.*mlp.experts",
    "re:^mtp.layers.0.mlp.experts.*",
    "*mlp.experts*",
)
LAYER_NAMES = (
    "lm_head",
    "model.layers.61",
    "model.layers.61.*",
    "re:model.layers.61.*",
    r"re:model\.layers\.61\..*",
    "re:.*layers.61.*",
    "model.layers.4",
    "re:model.layers.4",
    "re:model.decoder",
    "model.layers.61.mlp.experts.0.up_proj",
    "language_model.model.layers.61",
)


def _quark(exclude: list[str]) -> dict[str, Any]:
    return {"quant_method": "quark", "exclude": exclude, "export": {"kv_cache_group": []}, "packed_modules_mapping": {}}


def test_the_qwen_rule_on_quark_lists(engine: Any) -> None:
    rule = engine("sglang.srt.models.qwen3_5_mtp")._mtp_quant_config
    build = engine("sglang.srt.layers.quantization.quark.quark").QuarkConfig.from_config
    random, seen = Random("qwen"), Counter[bool]()
    for _ in range(300):
        config = _quark(random.sample(MTP_NAMES, random.randint(0, 3)))
        ours = draft_nulling(read_config(config), "sglang", "Qwen3_5MoeForConditionalGeneration", 48)
        assert (ours is not None) == (rule(build(config)) is None), config
        seen[ours is not None] += 1
    assert min(seen.values()) > 30


def test_the_deepseek_rule_on_quark_lists(engine: Any) -> None:
    draft = engine("sglang.srt.models.deepseek_nextn").DeepseekV3ForCausalLMNextN
    build = engine("sglang.srt.layers.quantization.quark.quark").QuarkConfig.from_config
    random, seen = Random("deepseek"), Counter[bool]()
    for _ in range(300):
        config = _quark(random.sample(LAYER_NAMES, random.randint(0, 3)))
        layers = random.choice((61, 4))
        hf_config, built = SimpleNamespace(num_hidden_layers=layers), build(config)
        built.apply_weight_name_mapper(draft.get_hf_to_sglang_mapper(hf_config))
        real = draft._resolve_nextn_quant_config(
            SimpleNamespace(get_hf_to_sglang_mapper=draft.get_hf_to_sglang_mapper), hf_config, built
        )
        ours = draft_nulling(read_config(config), "sglang", "DeepseekV3ForCausalLM", layers)
        assert (ours is not None) == (real is None), (config, layers)
        seen[ours is not None] += 1
    assert min(seen.values()) > 30


def test_the_glm_rule_on_quark_lists(engine: Any) -> None:
    draft = engine("sglang.srt.models.glm5_next_nextn").Glm5NextForConditionalGenerationNextN
    build = engine("sglang.srt.layers.quantization.quark.quark").QuarkConfig.from_config
    names = (*LAYER_NAMES, *(name.replace("model.layers", "model.language_model.layers") for name in LAYER_NAMES))
    random, seen = Random("glm"), Counter[bool]()
    for _ in range(300):
        layers = random.choice((61, 4))
        config = _quark([*random.sample(names, random.randint(0, 3)), *random.choice(([], ["model.layers.4.*"]))])
        hf_config, built = SimpleNamespace(num_hidden_layers=layers, quantization_config=config), build(config)
        built.apply_weight_name_mapper(draft.get_hf_to_sglang_mapper(hf_config))
        real = draft._resolve_nextn_quant_config(draft.__new__(draft), hf_config, built)
        ours = draft_nulling(read_config(config), "sglang", "Glm5NextForConditionalGeneration", layers)
        # What stands under `ignore` is the rule of another row; Quark has no such key.
        assert (ours is not None) == (real is None), (config, layers)
        seen[ours is not None] += 1
    assert min(seen.values()) > 30


FP4_DRAFTS = (
    ("deepseek_nextn", "DeepseekModelNextN"),
    ("glm4_moe_nextn", "Glm4MoeModelNextN"),
    ("glm4_moe_lite_nextn", "Glm4MoeLiteModelNextN"),
    ("glm_ocr_nextn", "GlmOcrModelNextN"),
    ("bailing_moe_nextn", "BailingMoEModelNextN"),
    ("kimi_k25_eagle3", "Eagle3DeepseekV2ForCausalLM"),
)


@pytest.mark.parametrize(("module", "name"), FP4_DRAFTS)
def test_the_classes_that_null_fp4_still_say_so(engine: Any, module: str, name: str) -> None:
    """Their constructors build whole models, so what they do with the config is read in their code."""
    source = inspect.getsource(getattr(engine(f"sglang.srt.models.{module}"), name).__init__)
    condition = source.index('quant_config.get_name() == "modelopt_fp4"')
    assert "quant_config = None" in source[condition : condition + 400]


def test_no_other_draft_nulls_fp4(engine: Any) -> None:
    folder = Path(next(iter(engine("sglang.srt.models").__path__)))
    drafts = {path for path in folder.glob("*.py") for word in ("nextn", "mtp", "eagle") if word in path.stem}
    found = {path.stem for path in drafts if 'get_name() == "modelopt_fp4"' in path.read_text()}
    assert found == {module for module, _ in FP4_DRAFTS} | {"qwen3_5_mtp"}


@pytest.mark.parametrize("name", ["mtp.layers.0.mlp.experts", "model.layers.0.mlp.experts"])
def test_the_qwen_rule_on_mixed_modelopt(engine: Any, name: str) -> None:
    rule = engine("sglang.srt.models.qwen3_5_mtp")._mtp_quant_config
    layers = {name: {"quant_algo": "NVFP4", "group_size": 16}}
    config = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    built = engine("sglang.srt.layers.quantization.modelopt_quant").ModelOptMixedPrecisionConfig.from_config(config)
    ours = draft_nulling(read_config(config), "sglang", "Qwen3_5ForConditionalGeneration", 48)
    assert (ours is not None) == (rule(built) is None)


def test_the_qwen_rule_on_serialized_nvfp4(engine: Any) -> None:
    rule = engine("sglang.srt.models.qwen3_5_mtp")._mtp_quant_config
    config = {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["mtp*"]}
    built = engine("sglang.srt.layers.quantization.modelopt_quant").ModelOptFp4Config.from_config(config)
    assert rule(built) is None
    assert draft_nulling(read_config(config), "sglang", "Qwen3_5ForConditionalGeneration", 48) is not None


@pytest.mark.parametrize("config", [{"quant_method": "fp8"}, {"quant_method": "compressed-tensors"}])
def test_other_methods_keep_the_draft(config: dict[str, Any]) -> None:
    for arch in ("Qwen3_5ForConditionalGeneration", "DeepseekV3ForCausalLM", "Qwen3NextForCausalLM"):
        assert draft_nulling(read_config(config), "sglang", arch, 61) is None


def test_the_draft_classes_are_those_that_sglang_configures(engine: Any) -> None:
    """Run the engine's own table of draft classes for each of our rows that it can run without a checkpoint."""
    configure = engine("sglang.srt.configs.model_config").ModelConfig._config_draft_model
    checked = 0
    for arch in (
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "Glm4MoeForCausalLM",
        "Qwen3NextForCausalLM",
        *QWEN,
    ):
        text = SimpleNamespace()
        hf_config = SimpleNamespace(architectures=[arch], text_config=text)
        model = SimpleNamespace(
            is_draft_model=True, hf_config=hf_config, hf_text_config=text, speculative_algorithm=None
        )
        configure(model)
        assert draft_class("sglang", arch) == model.hf_config.architectures[0]
        checked += model.hf_config.architectures[0] != arch
    assert checked == 4 + len(QWEN)


QWEN = (
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
    "Qwen3_5ForCausalLM",
    "Qwen3_5MoeForCausalLM",
    "Qwen3MoeForCausalLM",
)
