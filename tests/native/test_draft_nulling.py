from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import draft_class, draft_nulling, read_config
from qpolicy.native.drafts import _WHEN, _tables

EXPERT = "mtp.layers.0.mlp.experts.3.up_proj"


def _reason(config: dict[str, Any], arch: str, layers: int | None = 48) -> str | None:
    return draft_nulling(read_config(config), "sglang", arch, layers)


@pytest.mark.parametrize(
    ("exclude", "nulled"),
    [
        ([EXPERT], True),
        (["mtp.layers.0.mlp.experts_something"], True),
        (["mtp.fc", "mtp.layers.0.self_attn.q_proj"], False),
        (["model.layers.0.mlp.experts", "mtp.fc"], False),
        ([], False),
    ],
)
@pytest.mark.parametrize("arch", ["Qwen3_5MoeForConditionalGeneration", "Qwen3_5ForCausalLMMTP"])
def test_qwen_drafts_of_quark_checkpoints(exclude: list[str], nulled: bool, arch: str) -> None:
    reason = _reason({"quant_method": "quark", "exclude": exclude}, arch)
    assert (reason is not None) is nulled
    assert reason is None or "qwen3_5_mtp.py" in reason


@pytest.mark.parametrize(
    ("exclude", "layers", "nulled"),
    [
        (["re:model.layers.61.*"], 61, True),
        (["model.layers.61"], 61, True),
        ([r"re:model\.layers\.61\..*"], 61, False),
        (["model.layers.61.mlp.gate"], 61, False),
        (["re:model.layers.61.*"], 46, False),
        (["model.layers.46"], 46, True),
        (["re:("], 61, False),
    ],
)
def test_deepseek_drafts_of_quark_checkpoints(exclude: list[str], layers: int, nulled: bool) -> None:
    reason = _reason({"quant_method": "quark", "exclude": exclude}, "DeepseekV3ForCausalLM", layers)
    assert (reason is not None) is nulled


@pytest.mark.parametrize(
    ("config", "arch", "nulled"),
    [
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "DeepseekV3ForCausalLM", True),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "Qwen3_5ForConditionalGeneration", True),
        ({"quant_algo": "NVFP4"}, "Glm4MoeForCausalLM", True),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "DeepseekV3ForCausalLM", False),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "Qwen3NextForCausalLM", False),
        ({"quant_method": "fp8"}, "InklingForConditionalGeneration", True),
        ({"quant_method": "compressed-tensors", "ignore": ["re:mtp.*"]}, "Qwen3_5ForConditionalGeneration", False),
        ({"quant_method": "fp8", "ignore": ["model.layers.48.*"]}, "Glm5NextForConditionalGeneration", True),
        ({"quant_method": "fp8", "ignore": ["model.layers.4.*"]}, "Glm5NextForConditionalGeneration", False),
    ],
)
def test_other_rows(config: dict[str, Any], arch: str, nulled: bool) -> None:
    assert (_reason(config, arch) is not None) is nulled


@pytest.mark.parametrize(
    ("name", "nulled"), [("mtp.layers.0.mlp.experts", False), ("model.layers.0.mlp.experts", True)]
)
def test_qwen_drafts_of_mixed_modelopt_checkpoints(name: str, nulled: bool) -> None:
    config = {"quant_algo": "MIXED_PRECISION", "quantized_layers": {name: {"quant_algo": "NVFP4"}}}
    assert (_reason(config, "Qwen3_5ForConditionalGeneration") is not None) is nulled


def test_another_engine_has_no_rows() -> None:
    config = read_config({"quant_method": "quark", "exclude": [EXPERT]})
    assert draft_nulling(config, "an engine", "Qwen3_5ForCausalLMMTP", 48) is None
    assert draft_class("an engine", "Qwen3_5ForCausalLM") == "Qwen3_5ForCausalLM"


def test_every_row_can_be_executed() -> None:
    built = set(_tables()["drafts"]["sglang"].values()) | {"Eagle3DeepseekV2ForCausalLM"}
    for row in _tables()["nulling"]:
        assert row["when"] in _WHEN
        assert set(row["drafts"]) <= built
        assert ".py" in row["source"]
