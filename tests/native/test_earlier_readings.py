"""How earlier versions read the lists: cases of our own, with the answers that the code of those versions gave.

Each answer was recorded from the config class of the version that the row names, taken out of its published package.
"""

from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import engine_reading, read_config
from qpolicy.native.records import every_record, find_record, span

PACKED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
LAYER = "model.layers.1."
HALVES = [LAYER + "mlp.gate_proj", LAYER + "mlp.up_proj"]
INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}
BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "fp8": ("modules_to_not_convert", {"quant_method": "fp8", "activation_scheme": "dynamic"}),
    "blockwise_int8": (
        "ignored_layers",
        {"quant_method": "blockwise_int8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    ),
    "awq": ("modules_to_not_convert", {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}),
    "compressed-tensors": (
        "ignore",
        {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": INT4}},
        },
    ),
    "w8a8_int8": ("ignore", {"quant_method": "w8a8_int8"}),
    "quark": (
        "exclude",
        {
            "quant_method": "quark",
            "export": {"kv_cache_group": []},
            "layer_quant_config": {},
            "layer_type_quant_config": {},
            "global_quant_config": {"weight": {"dtype": "fp4"}},
        },
    ),
    "modelopt-fp8": ("ignore", {"quant_method": "modelopt", "quant_algo": "FP8"}),
    "modelopt-nvfp4": ("ignore", {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}),
    "bitsandbytes": ("llm_int8_skip_modules", {"quant_method": "bitsandbytes", "load_in_4bit": True}),
    "auto-round": ("extra_config", {"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}),
}

# The dialect, who reads it, what the list has, the layer that asks, and what becomes of it.
Case = tuple[str, str, list[str], str, str]
CASES: list[Case] = [
    ("fp8", "sglang 0.5.9", ["mlp.gate"], LAYER + "mlp.gate_up_proj", "unquantized"),
    ("fp8", "sglang 0.5.9", [LAYER[:-1]], "model.layers.11.mlp.down_proj", "unquantized"),
    ("fp8", "sglang 0.5.9", ["model.layers.1."], LAYER + "mlp.experts", "quantized"),
    (
        "fp8",
        "sglang 0.5.9",
        [LAYER + "mlp.gate_proj", LAYER + "mlp.up_proj"],
        LAYER + "mlp.gate_up_proj",
        "unquantized",
    ),
    ("fp8", "sglang 0.5.9", [LAYER + "self_attn.q_proj"], LAYER + "self_attn.qkv_proj", "quantized"),
    ("fp8", "sglang 0.5.9", ["mlp"], LAYER + "mlp.shared_experts.down_proj", "quantized"),
    ("fp8", "sglang 0.5.10", ["mlp.down"], LAYER + "mlp.down_proj", "unquantized"),
    ("fp8", "sglang 0.5.10", ["mlp.gate"], LAYER + "mlp.gate_up_proj", "refused"),
    ("fp8", "sglang 0.5.10", ["model.layers.1."], LAYER + "mlp.experts", "unquantized"),
    ("fp8", "sglang 0.5.10", ["mlp"], LAYER + "mlp.shared_experts.down_proj", "unquantized"),
    ("fp8", "sglang 0.5.10.post1", ["layers.1"], "model.layers.10.self_attn.o_proj", "unquantized"),
    ("fp8", "sglang 0.5.11", ["mlp.down"], LAYER + "mlp.down_proj", "quantized"),
    ("fp8", "sglang 0.5.11", ["mlp.gate"], LAYER + "mlp.gate_up_proj", "quantized"),
    ("fp8", "sglang 0.5.12", ["model.layers.1."], LAYER + "mlp.experts", "quantized"),
    ("fp8", "sglang 0.5.12", [LAYER + "mlp"], LAYER + "mlp.experts", "unquantized"),
    ("fp8", "sglang 0.5.16", ["model.layers.1."], LAYER + "mlp.experts", "unquantized"),
    ("fp8", "sglang 0.5.16", [LAYER + "mlp.gate_proj"], LAYER + "mlp.gate_up_proj", "refused"),
    ("fp8", "sglang 0.5.22", ["layers.1"], "model.layers.10.self_attn.o_proj", "quantized"),
    ("blockwise_int8", "sglang 0.5.8", ["mlp.gate"], LAYER + "mlp.gate_up_proj", "unquantized"),
    ("blockwise_int8", "sglang 0.5.8", [LAYER + "mlp"], LAYER + "mlp.shared_experts.down_proj", "quantized"),
    ("blockwise_int8", "sglang 0.5.10", [LAYER + "mlp"], LAYER + "mlp.shared_experts.down_proj", "unquantized"),
    ("blockwise_int8", "sglang 0.5.12", ["mlp.gate"], LAYER + "mlp.gate_up_proj", "quantized"),
    ("blockwise_int8", "sglang 0.5.12", [LAYER + "mlp."], LAYER + "mlp.down_proj", "quantized"),
    ("awq", "sglang 0.5.12", ["model.layers.1."], LAYER + "mlp.experts", "quantized"),
    ("awq", "sglang 0.5.12", ["model.layers.1."], LAYER + "self_attn.qkv_proj", "unquantized"),
    ("awq", "sglang 0.5.13", ["model.layers.1."], LAYER + "mlp.experts", "unquantized"),
    ("compressed-tensors", "sglang 0.5.16", [LAYER + "mlp.gate"], LAYER + "mlp.gate_up_proj", "refused"),
    ("compressed-tensors", "sglang 0.5.16", ["mlp.down"], LAYER + "mlp.down_proj", "unquantized"),
    ("compressed-tensors", "sglang 0.5.16", ["MLP.Down"], LAYER + "mlp.down_proj", "unquantized"),
    ("compressed-tensors", "sglang 0.5.16", [LAYER + "mlp.experts.0"], LAYER + "mlp.experts", "unquantized"),
    ("compressed-tensors", "sglang 0.5.16", ["re:.*MLP.*"], LAYER + "mlp.down_proj", "quantized"),
    ("compressed-tensors", "sglang 0.5.18", ["mlp.down"], LAYER + "mlp.down_proj", "quantized"),
    ("compressed-tensors", "sglang 0.5.18", [LAYER + "mlp.experts.0"], LAYER + "mlp.experts", "quantized"),
    ("compressed-tensors", "sglang 0.5.18", ["mlp.down_proj"], LAYER + "mlp.down_proj", "unquantized"),
    ("w8a8_int8", "sglang 0.5.16", ["mlp.DOWN"], LAYER + "mlp.down_proj", "unquantized"),
    ("w8a8_int8", "sglang 0.5.16", ["experts.0"], LAYER + "mlp.experts", "quantized"),
    ("w8a8_int8", "sglang 0.5.16", ["mlp"], LAYER + "mlp.experts", "refused"),
    ("quark", "sglang 0.5.12", [LAYER + "mlp.experts.0.up_proj"], LAYER + "mlp.experts", "quantized"),
    ("quark", "sglang 0.5.20", [LAYER + "mlp.gate_up_proj"], LAYER + "mlp.gate_up_proj", "quantized"),
    ("quark", "sglang 0.5.20", [LAYER + "mlp.experts"], LAYER + "mlp.experts", "unquantized"),
    ("quark", "sglang 0.5.20", [LAYER + "mlp.gate_proj"], LAYER + "mlp.gate_up_proj", "refused"),
    ("modelopt-fp8", "sglang 0.5.8", ["mlp.down"], LAYER + "mlp.down_proj", "unquantized"),
    ("modelopt-fp8", "sglang 0.5.8", [LAYER + "mlp*"], LAYER + "mlp.down_proj", "quantized"),
    ("modelopt-fp8", "sglang 0.5.8", [LAYER + "mlp.experts"], LAYER + "mlp.experts", "quantized"),
    ("modelopt-nvfp4", "sglang 0.5.8", [LAYER + "mlp*"], LAYER + "mlp.down_proj", "unquantized"),
    ("modelopt-nvfp4", "sglang 0.5.8", ["mtp*"], "model.mtp.layers.0.mlp.down_proj", "quantized"),
    ("modelopt-nvfp4", "sglang 0.5.8", ["lm_head"], "lm_head", "unquantized"),
    ("modelopt-nvfp4", "sglang 0.5.8", [], "lm_head", "unquantized"),
    ("modelopt-nvfp4", "sglang 0.5.16", ["mtp*"], "model.mtp.layers.0.mlp.down_proj", "unquantized"),
    ("modelopt-nvfp4", "sglang 0.5.16", [], "lm_head", "quantized"),
    ("modelopt-nvfp4", "sglang 0.5.22", [LAYER + "mlp.experts*"], LAYER + "mlp.experts", "unquantized"),
    ("modelopt-fp8", "sglang 0.5.16", [LAYER + "mlp.down"], LAYER + "mlp.down_proj", "quantized"),
    ("bitsandbytes", "vllm 0.7.2", [LAYER + "mlp"], LAYER + "mlp.gate_up_proj", "quantized"),
    ("bitsandbytes", "vllm 0.7.2", ["mlp"], LAYER + "mlp.gate_up_proj", "unquantized"),
    ("bitsandbytes", "vllm 0.7.2", ["gate"], LAYER + "mlp.gate_up_proj", "quantized"),
    ("auto-round", "vllm 0.10.2", [".*mlp.down_proj"], LAYER + "mlp.down_proj", "quantized"),
    ("auto-round", "vllm 0.10.2", [LAYER + "mlp.down_proj"], LAYER + "mlp.down_proj", "unquantized"),
    ("auto-round", "vllm 0.10.2", [LAYER + "mlp.gate_proj"], LAYER + "mlp.gate_up_proj", "refused"),
    ("auto-round", "vllm 0.10.2", [LAYER + "mlp.experts.0.up_proj"], LAYER + "mlp.experts", "unquantized"),
    ("compressed-tensors", "vllm-humming 0.25.0", ["re:vision_tower.*"], "vision_tower.blocks.0.mlp.fc0", "quantized"),
    ("compressed-tensors", "vllm-humming 0.25.0", ["vision_tower"], "vision_tower.blocks.0.mlp.fc0", "unquantized"),
    ("compressed-tensors", "vllm-humming 0.25.0", ["mlp.gate"], LAYER + "mlp.gate_up_proj", "unquantized"),
]


def config_of(dialect: str, entries: list[str]) -> dict[str, Any]:
    key, base = BASES[dialect]
    return {**base, key: {entry: {"bits": 16} for entry in entries} if key == "extra_config" else entries}


def kind_of(name: str) -> str:
    return {"experts": "moe", "lm_head": "lm_head"}.get(name.rpartition(".")[2], "linear")


@pytest.mark.parametrize(("dialect", "engine", "entries", "name", "became"), CASES)
def test_earlier_versions_answer_as_recorded(
    dialect: str, engine: str, entries: list[str], name: str, became: str
) -> None:
    reading = engine_reading(read_config(config_of(dialect, entries)), engine, PACKED)
    answer = reading.ask(name, kind_of(name))
    assert {"error": "refused"}.get(str(answer.outcome), answer.outcome) == became
    assert reading.engine == engine
    assert not reading.refusals


def test_every_earlier_reading_has_cases() -> None:
    cited = {(dialect.partition("-")[0] if "modelopt" in dialect else dialect, engine) for dialect, engine, *_ in CASES}
    asked = {(record.dialect, span(record)) for record in _found(cited)}
    earlier = {(one.dialect, span(one)) for one in every_record() if one.engine == "sglang" and one.version != "0.5.23"}
    assert earlier <= asked


def _found(cited: set[tuple[str, str]]) -> list[Any]:
    variants = ("", "fp8", "nvfp4", "marlin", "plain")
    found = [find_record(dialect, engine, variant) for dialect, engine in cited for variant in variants]
    return [record for record in found if record is not None]


@pytest.mark.parametrize(("algorithm", "refused"), [("NVFP4", False), ("NVFP4_AWQ", True), ("W4A16_NVFP4", True)])
def test_the_algorithms_that_a_version_knew(algorithm: str, refused: bool) -> None:
    config = {**BASES["modelopt-nvfp4"][1], "quant_algo": algorithm, "ignore": []}
    assert bool(engine_reading(read_config(config), "sglang 0.5.16").refusals) is refused
    assert engine_reading(read_config(config), "sglang 0.5.22").refusals == ()


@pytest.mark.parametrize(("given", "refused"), [({}, True), ({"group_size": 16}, False)])
def test_a_group_size_had_to_be_given(given: dict[str, int], refused: bool) -> None:
    config = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": [], **given}
    assert bool(engine_reading(read_config(config), "sglang 0.5.16").refusals) is refused
    assert bool(engine_reading(read_config({**config, "ignore": None}), "sglang 0.5.16").refusals)


def test_a_version_whose_reading_is_not_written_down_is_unknown() -> None:
    config = read_config(config_of("modelopt-nvfp4", []))
    assert not engine_reading(config, "sglang 0.5.10").supported
    assert engine_reading(config, "sglang 0.5.15.post1").supported
    assert not engine_reading(config, "sglang 0.6").supported
