from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import Reading, consulted_place, engine_reading, producer_reading, read_config

LAYER = "model.layers.3."
EXPERTS = LAYER + "mlp.experts"
GATE = LAYER + "mlp.gate"
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}


def _bnb(entries: list[str] | None) -> dict[str, Any]:
    return {"quant_method": "bitsandbytes", "llm_int8_skip_modules": entries}


def _humming(**more: Any) -> dict[str, Any]:
    return {"quant_method": "humming", **more}


def _read(config: dict[str, Any], engine: str = "sglang") -> Reading:
    return engine_reading(read_config(config), engine)


@pytest.mark.parametrize(
    ("config", "engine", "name", "kind", "outcome"),
    [
        (AWQ | {"modules_to_not_convert": ["gate"]}, "sglang", LAYER + "mlp.gate_up_proj", "linear", "unquantized"),
        (AWQ | {"modules_to_not_convert": ["layers.3.mlp"]}, "sglang", EXPERTS, "moe", "unquantized"),
        (AWQ | {"modules_to_not_convert": None}, "sglang", EXPERTS, "moe", "quantized"),
        (AWQ | {"zero_point": False}, "sglang", EXPERTS, "moe", "unquantized"),
        (AWQ, "sglang", "lm_head", "lm_head", "unquantized"),
        (AWQ | {"lm_head": True}, "sglang", "lm_head", "lm_head", "quantized"),
        (AWQ, "sglang-cpu", EXPERTS, "moe", "quantized"),
        (AWQ, "sglang-xpu", EXPERTS, "moe", "error"),
        (AWQ, "transformers", "lm_head", "lm_head", "unquantized"),
        (_bnb(["mlp"]), "sglang", LAYER + "mlp.x", "linear", "unquantized"),
        (
            _bnb(["layers.3"]),
            "sglang",
            LAYER + "mlp.x",
            "linear",
            "quantized",
        ),
        (
            _bnb(["model.layers.3"]),
            "sglang",
            EXPERTS,
            "moe",
            "quantized",
        ),
        (_bnb(None), "transformers", "lm_head", "lm_head", "unquantized"),
        (_bnb([]), "transformers", "lm_head", "lm_head", "quantized"),
        (
            {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.3.mlp.experts"]},
            "sglang",
            EXPERTS,
            "moe",
            "quantized",
        ),
        ({"quant_method": "mxfp4"}, "sglang", LAYER + "self_attn.q_proj", "linear", "unquantized"),
        ({"quant_method": "gguf"}, "sglang", "model.embed_tokens", "embedding", "quantized"),
        ({"quant_method": "w4afp8", "ignored_layers": ["model"]}, "sglang", LAYER + "mlp.x", "linear", "quantized"),
        ({"quant_method": "w8a8_int8", "ignore": [EXPERTS]}, "sglang", EXPERTS, "moe", "error"),
        (_humming(ignore=["re:.*gate$"]), "sglang", GATE, "linear", "unquantized"),
        (_humming(dynamic={"-:.*gate$": {}}), "sglang", GATE, "linear", "unquantized"),
        (_humming(dynamic={"+:.*gate$": {}}), "sglang", GATE, "linear", "quantized"),
        (_humming(), "sglang", "lm_head.x", "linear", "unquantized"),
    ],
)
def test_what_each_reader_makes_of_a_layer(
    config: dict[str, Any], engine: str, name: str, kind: str, outcome: str
) -> None:
    assert _read(config, engine).ask(name, kind).outcome == outcome


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"quant_method": "awq", "bits": 4, "zero_point": True}, "group_size"),
        (AWQ | {"bits": 8, "zero_point": False}, "8 bits"),
        ({"quant_method": "bitsandbytes", "bnb_4bit_quant_storage": "bfloat16"}, "bfloat16"),
        ({"quant_method": "blockwise_int8", "activation_scheme": "dynamic"}, "weight_block_size"),
    ],
)
def test_configs_that_sglang_refuses(config: dict[str, Any], reason: str) -> None:
    assert reason in " ".join(_read(config).refusals)


def test_autoawq_compares_names_within_a_layer() -> None:
    reading = producer_reading(read_config(AWQ | {"modules_to_not_convert": ["layers.3.mlp", "self_attn"]}))
    assert not reading.ask(LAYER + "mlp.down_proj", "linear").excluded
    assert reading.ask(LAYER + "self_attn.q_proj", "linear").excluded
    assert read_config({"w_bit": 4, "q_group_size": 128, "zero_point": True}).dialect == "awq"


OWN, BESIDE = "config.json: quantization_config", "hf_quant_config.json: quantization"
MIXED = {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "NVFP4"}}}


@pytest.mark.parametrize(
    ("places", "place"),
    [
        ({OWN: {"quant_method": "fp8"}, BESIDE: {"quant_algo": "FP8"}}, OWN),
        ({OWN: {"quant_method": "modelopt", **MIXED}, BESIDE: MIXED}, BESIDE),
        ({OWN: {"quant_method": "modelopt", "kv_cache_quant_algo": "FP8", **MIXED}, BESIDE: MIXED}, OWN),
        ({OWN: {"quant_method": "modelopt", **MIXED}}, None),
        ({BESIDE: {"quant_algo": "FP8"}}, BESIDE),
        ({BESIDE: {"quant_algo": "INT4_AWQ"}}, None),
        ({"quantize_config.json": {"bits": 4}}, None),
        ({}, None),
    ],
)
def test_which_of_two_configs_sglang_reads(places: dict[str, dict[str, Any]], place: str | None) -> None:
    assert consulted_place(places) == place
