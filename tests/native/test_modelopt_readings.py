from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import Reading, engine_reading, producer_reading, read_config

LAYER = "model.layers.3."
PACKED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}


def _read(entries: list[str], algorithm: str = "NVFP4", key: str = "ignore", **more: Any) -> Reading:
    config = {"quant_method": "modelopt", "quant_algo": algorithm, key: entries, **more}
    return engine_reading(read_config(config), "sglang", PACKED)


@pytest.mark.parametrize(
    ("entry", "name", "kind", "excluded"),
    [
        ("model.layers.3.mlp", LAYER + "mlp.down_proj", "linear", True),
        ("model.layers.3.mlp", LAYER + "mlp.experts", "moe", False),
        ("model.layers.3.mlp.*", LAYER + "mlp.experts", "moe", True),
        ("model.layers.3.mlp.experts.0.gate_proj", LAYER + "mlp.experts", "moe", False),
        ("mtp*", "model.mtp.layers.0.mlp.experts", "moe", True),
        ("gate", LAYER + "mlp.gate", "linear", True),
        ("gate", LAYER + "mlp.gate_up_proj", "linear", False),
        ("model.layers.1*", "model.layers.11.mlp.down_proj", "linear", True),
        ("model.layers.?.mlp.gate", LAYER + "mlp.gate", "linear", False),
        ("re:.*gate$", LAYER + "mlp.gate", "linear", False),
        ("model.layers.0.self_attn.q_b_proj", "model.layers.5.self_attn.q_b_proj", "linear", True),
        ("x.kv_a_proj_with_mqa", LAYER + "self_attn.fused_qkv_a_proj_with_mqa", "linear", True),
        ("x.q_a_proj", LAYER + "self_attn.fused_qkv_a_proj_with_mqa", "linear", False),
        ("lm_head", "lm_head", "lm_head", True),
        ("model.*", "language_model.model.layers.3.mlp.gate", "linear", True),
    ],
)
@pytest.mark.parametrize("algorithm", ["FP8", "NVFP4"])
def test_the_lists_and_patterns_of_sglang(algorithm: str, entry: str, name: str, kind: str, excluded: bool) -> None:
    answer = _read([entry], algorithm).ask(name, kind)
    assert (answer.excluded, answer.outcome) == (excluded, "unquantized" if excluded else "quantized")


def test_a_half_excluded_fused_layer_is_refused_before_any_pattern_is_tried() -> None:
    answer = _read([LAYER + "self_attn.q_proj", "*"]).ask(LAYER + "self_attn.qkv_proj", "linear")
    assert answer.outcome == "error"
    assert answer.members is not None


def test_a_broken_pattern_stops_the_engine_unless_another_fits_first() -> None:
    broken = "model.layers.3.(gate"
    assert _read([broken, "gate*"]).ask("x.gate", "moe").outcome == "error"
    assert _read(["gate*", broken]).ask("x.gate", "moe").outcome == "unquantized"


@pytest.mark.parametrize(
    ("config", "variant"),
    [
        ({"quant_algo": "FP8"}, "fp8"),
        ({"quant_algo": "NVFP4_AWQ"}, "nvfp4"),
        ({"quant_algo": "MXFP8"}, "mxfp8"),
        ({"quant_algo": "W4A16_AWQ"}, "other"),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "nvfp4"}}}, "mixed"),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "FP8"}}}, "w4afp8"),
        ({"quant_method": "modelopt_fp4", "quant_algo": "NVFP4"}, "nvfp4"),
    ],
)
def test_each_algorithm_has_its_class(config: dict[str, Any], variant: str) -> None:
    assert read_config({"quant_method": "modelopt", **config}).variant == variant


@pytest.mark.parametrize(
    ("config", "where", "excluded"),
    [
        ({"quant_method": "modelopt", "exclude_modules": ["lm_head"]}, "config.json: quantization_config", False),
        ({"exclude_modules": ["lm_head"]}, "hf_quant_config.json: quantization", True),
        ({"exclude_modules": ["lm_head"]}, "config.json: quantization_config", False),
        ({"exclude_modules": ["lm_head"]}, "quantization_config", True),
        ({"exclude_modules": ["lm_head"], "ignore": []}, "quantization_config", False),
    ],
)
def test_in_a_file_of_its_own_the_list_has_another_key(config: dict[str, Any], where: str, excluded: bool) -> None:
    read = read_config({"quant_algo": "FP8", **config}, where)
    assert engine_reading(read, "sglang").ask("lm_head", "lm_head").excluded is excluded
    assert producer_reading(read).ask("lm_head", "lm_head").excluded


def test_the_whole_file_is_read_like_its_section() -> None:
    config = read_config(
        {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["a"]}}
    )
    assert (config.section, config.entries[0].where) == (True, "quantization_config.quantization.exclude_modules[0]")


def test_an_algorithm_that_sglang_does_not_know() -> None:
    flat = _read(["lm_head"], "W4A16_AWQ")
    assert "W4A16_AWQ" in flat.refusals[0]
    section = engine_reading(read_config({"quant_algo": "W4A16_AWQ", "exclude_modules": []}), "sglang")
    assert section.refusals == ()
    assert section.ask("a.q_proj", "linear").outcome == "unquantized"


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"quant_algo": "NVFP4", "ignore": None, "exclude_modules": ["a"]}, "ignore is null"),
        ({"quant_algo": "MXFP4", "ignore": []}, "MXFP4"),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "NVFP4"}}}, "hf_quant_config.json"),
    ],
)
def test_configs_that_sglang_refuses(config: dict[str, Any], reason: str) -> None:
    refusals = engine_reading(read_config({"quant_method": "modelopt", **config}), "sglang").refusals
    assert reason in " ".join(refusals)


MIXED = {
    "model.language_model.layers.0.mlp.down_proj": {"quant_algo": "FP8"},
    "model.layers.0.self_attn.q_proj": {"quant_algo": "NVFP4"},
    "model.layers.0.self_attn.k_proj": {"quant_algo": "NVFP4"},
    "model.layers.1.self_attn.q_proj": {"quant_algo": "NVFP4"},
    "model.layers.1.self_attn.k_proj": {"quant_algo": "FP8"},
    "model.layers.0.mlp.experts.0.up_proj": {"quant_algo": "NVFP4"},
    "model.layers.2.mlp.down_proj": {"quant_algo": "INT4_AWQ"},
    "model.embed_tokens": {"quant_algo": "FP8"},
}


@pytest.mark.parametrize(
    ("name", "kind", "outcome", "scheme"),
    [
        ("model.layers.0.mlp.down_proj", "linear", "quantized", "FP8"),
        ("model.layers.0.self_attn.qkv_proj", "linear", "quantized", "NVFP4"),
        ("model.layers.1.self_attn.qkv_proj", "linear", "error", None),
        ("model.layers.0.mlp.experts", "moe", "quantized", "NVFP4"),
        ("model.layers.2.mlp.down_proj", "linear", "unquantized", None),
        ("model.layers.9.mlp.down_proj", "linear", "unquantized", None),
        ("model.embed_tokens", "embedding", "unquantized", None),
    ],
)
def test_the_map_of_a_checkpoint_with_several_algorithms(
    name: str, kind: str, outcome: str, scheme: str | None
) -> None:
    reading = _read([], "MIXED_PRECISION", quantized_layers=MIXED, kv_cache_quant_algo=None)
    answer = reading.ask(name, kind)
    assert (answer.outcome, answer.scheme) == (outcome, scheme)
    assert reading.refusals == ()


def test_the_algorithms_are_names_for_rules() -> None:
    config = read_config({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": MIXED})
    assert config.schemes == ("FP8", "NVFP4", "INT4_AWQ")


@pytest.mark.parametrize(
    ("entry", "name", "excluded"),
    [
        ("model.layers.1*", "model.layers.11.mlp.gate", True),
        ("model.layers.1.*", "model.layers.1", False),
        ("model.layers.1.*", "model.layers.11.mlp.gate", False),
        ("*.mlp.experts", LAYER + "mlp.experts.0.up_proj", True),
        ("mlp.gate", LAYER + "mlp.gate", False),
        ("mtp*", "model.mtp.fc", False),
    ],
)
def test_the_producer_writes_shell_patterns(entry: str, name: str, excluded: bool) -> None:
    config = read_config({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": [entry]})
    assert producer_reading(config).ask(name, "linear").excluded is excluded


def test_experts_with_a_scheme_of_their_own() -> None:
    config = read_config(
        {
            "quant_method": "fp8",
            "activation_scheme": "dynamic",
            "quant_algo": "MIXED_PRECISION",
            "moe_quant_algo": "NVFP4",
            "group_size": 16,
            "ignore": ["model.layers.1.mlp.experts"],
            "modules_to_not_convert": ["model.layers.0.self_attn.q_proj", "model.layers.2.mlp.experts"],
        }
    )
    reading = engine_reading(config, "sglang")
    schemes = {
        layer: reading.ask(f"model.{layer}.mlp.experts", "moe").scheme for layer in ("layers.0", "layers.1", "decoder")
    }
    assert schemes == {"layers.0": "NVFP4", "layers.1": "fp8-nvfp4", "decoder": "fp8-nvfp4"}
    assert reading.ask("model.layers.2.mlp.experts", "moe").scheme == "NVFP4"
    assert reading.ask("model.layers.0.self_attn.q_proj", "linear").outcome == "unquantized"
    assert {entry.text for entry in reading.matching("model.layers.1.mlp.experts", "moe")} == {
        "model.layers.1.mlp.experts"
    }
