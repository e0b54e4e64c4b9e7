from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import Mapper, Reading, engine_reading, read_config

PACKED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
LAYER = "model.layers.1."
INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}


def _compressed(ignore: list[str] | None, **more: Any) -> Reading:
    groups = {"group_0": {"targets": ["Linear"], "weights": INT4}}
    config = {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "ignore": ignore,
        "config_groups": groups,
    }
    return engine_reading(read_config(config | more), "sglang", PACKED)


def _quark(exclude: list[str], **more: Any) -> Reading:
    config = {"quant_method": "quark", "exclude": exclude, "global_quant_config": {"weight": {"dtype": "fp4"}}, **more}
    return engine_reading(read_config(config), "sglang", PACKED)


def _fp8(entries: list[str], key: str = "modules_to_not_convert") -> Reading:
    return engine_reading(read_config({"quant_method": "fp8", key: entries}), "sglang", PACKED)


READINGS = {"compressed-tensors": _compressed, "quark": _quark, "fp8": _fp8}


@pytest.mark.parametrize("dialect", READINGS)
@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (LAYER + "mlp.gate", LAYER + "mlp.gate_proj"),
        (LAYER + "mlp.gate", LAYER + "mlp.shared_expert_gate"),
        (LAYER + "mlp.down_proj", "model.layers.11.mlp.down_proj"),
        ("model.layers.11.mlp.down_proj", LAYER + "mlp.down_proj"),
        (LAYER + "mlp.shared_expert.down_proj", LAYER + "mlp.shared_experts.down_proj"),
        ("gate", LAYER + "mlp.shared_expert_gate"),
    ],
)
def test_no_dialect_takes_a_sibling_or_another_layer(dialect: str, entry: str, name: str) -> None:
    reading = READINGS[dialect]([entry])
    answer = reading.ask(name, "linear")
    assert (answer.outcome, answer.excluded, answer.entries) == ("quantized", False, ())
    assert reading.matching(name, "linear") == ()


@pytest.mark.parametrize(
    ("dialect", "entry", "name", "excluded"),
    [
        ("compressed-tensors", "mlp.gate", LAYER + "mlp.gate", True),
        ("compressed-tensors", LAYER + "mlp", LAYER + "mlp.gate", False),
        ("compressed-tensors", "re:mlp.gate", LAYER + "mlp.gate", False),
        ("compressed-tensors", "re:.*mlp.gate$", LAYER + "mlp.gate", True),
        ("compressed-tensors", "Linear", LAYER + "mlp.gate", False),
        ("quark", "mlp.gate", LAYER + "mlp.gate", False),
        ("quark", "*mlp.gate", LAYER + "mlp.gate", False),
        ("quark", "re:.*mlp.gate", LAYER + "mlp.gate_proj", True),
        ("fp8", "mlp.gate", LAYER + "mlp.gate", True),
        ("fp8", "layers.1", LAYER + "mlp.gate", True),
        ("fp8", "layers.1.", LAYER + "mlp.gate", True),
        ("fp8", LAYER + "mlp.gate", "layers.1.mlp.gate", True),
        ("fp8", "re:.*mlp.gate", LAYER + "mlp.gate", False),
        ("fp8", "*mlp.gate", LAYER + "mlp.gate", False),
    ],
)
def test_each_dialect_compares_in_its_own_way(dialect: str, entry: str, name: str, excluded: bool) -> None:
    answer = READINGS[dialect](["lm_head", entry]).ask(name, "linear")
    assert answer.excluded is excluded
    assert answer.outcome == ("unquantized" if excluded else "quantized")
    assert [found.text for found in answer.entries] == ([entry] if excluded else [])


@pytest.mark.parametrize("dialect", READINGS)
def test_a_fused_layer_is_asked_by_its_shards(dialect: str) -> None:
    shards = [f"{LAYER}self_attn.{shard}_proj" for shard in "qkv"]
    whole = READINGS[dialect](shards).ask(LAYER + "self_attn.qkv_proj", "linear")
    assert (whole.outcome, len(whole.entries)) == ("unquantized", 3)
    half = READINGS[dialect](shards[:1]).ask(LAYER + "self_attn.qkv_proj", "linear")
    assert (half.outcome, half.members) == ("error", ((shards[0],), tuple(shards[1:])))
    assert "q_proj" in half.why
    assert "k_proj, v_proj" in half.why
    assert READINGS[dialect](shards).ask("model.layers.11.self_attn.qkv_proj", "linear").outcome == "quantized"


@pytest.mark.parametrize(("dialect", "excluded"), [("compressed-tensors", True), ("quark", True), ("fp8", False)])
def test_only_some_take_the_fused_name_itself(dialect: str, excluded: bool) -> None:
    assert (
        READINGS[dialect]([LAYER + "mlp.gate_up_proj"]).ask(LAYER + "mlp.gate_up_proj", "linear").excluded is excluded
    )


@pytest.mark.parametrize(
    ("dialect", "entry", "excluded"),
    [
        ("compressed-tensors", LAYER + "mlp.experts", False),
        ("compressed-tensors", LAYER + "mlp.experts.1.up_proj", False),
        ("compressed-tensors", "re:.*experts.*", True),
        ("quark", LAYER + "mlp.experts", True),
        ("quark", LAYER + "mlp.experts.7.up_proj", True),
        ("quark", LAYER + "mlp.experts_something", False),
        ("fp8", LAYER + "mlp.experts.7.up_proj", True),
        ("fp8", LAYER + "mlp.experts_something", True),
        ("fp8", "model.layers.11.mlp.experts.7.up_proj", False),
    ],
)
def test_experts_are_asked_as_sglang_asks(dialect: str, entry: str, excluded: bool) -> None:
    assert READINGS[dialect]([entry]).ask(LAYER + "mlp.experts", "moe").excluded is excluded


def test_compressed_tensors_experts_must_agree_in_the_first_one() -> None:
    reading = _compressed([LAYER + "mlp.experts.0.up_proj"])
    answer = reading.ask(LAYER + "mlp.experts", "moe")
    assert (answer.outcome, answer.excluded) == ("error", False)
    assert answer.members is not None
    assert answer.members[0] == (LAYER + "mlp.experts.0.up_proj",)
    assert reading.entry_matches(answer.entries[0], LAYER + "mlp.experts", "moe")


@pytest.mark.parametrize(
    ("dialect", "kind", "outcome"),
    [
        ("compressed-tensors", "lm_head", "unquantized"),
        ("compressed-tensors", "embedding", "unquantized"),
        ("quark", "lm_head", "unquantized"),
        ("fp8", "lm_head", "unquantized"),
        ("fp8", "embedding", "unquantized"),
    ],
)
def test_heads_and_embeddings_stay_unquantized_without_an_entry(dialect: str, kind: str, outcome: str) -> None:
    answer = READINGS[dialect]([]).ask("lm_head", kind)
    assert (answer.outcome, answer.excluded) == (outcome, False)
    assert READINGS[dialect](["lm_head"]).ask("lm_head", kind).excluded


def test_a_compressed_tensors_head_is_quantized_when_a_target_names_it() -> None:
    groups = {"head": {"targets": ["lm_head"], "weights": INT4}, "rest": {"targets": ["Linear"], "weights": INT4}}
    reading = _compressed([], config_groups=groups)
    assert reading.ask("language_model.lm_head", "lm_head").scheme == "head"
    assert _compressed(["lm_head"], config_groups=groups).ask("lm_head", "lm_head").outcome == "unquantized"
    block = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}
    refused = _compressed([], config_groups={"head": {"targets": ["lm_head"], "weights": block}})
    assert refused.ask("lm_head", "lm_head").outcome == "error"


def test_compressed_tensors_chooses_by_name_before_class_and_refuses_what_has_no_target() -> None:
    int8 = {**INT4, "num_bits": 8}
    groups = {
        "wide": {"targets": ["Linear"], "weights": INT4},
        "few": {"targets": ["re:.*down_proj$"], "weights": int8},
    }
    reading = _compressed([], config_groups=groups)
    assert reading.ask(LAYER + "mlp.down_proj", "linear").scheme == "few"
    assert reading.ask(LAYER + "self_attn.o_proj", "linear").scheme == "wide"
    assert reading.ask(LAYER + "mlp.experts", "moe").outcome == "error"
    refused = _compressed([], config_groups={"few": groups["few"]}).ask(LAYER + "self_attn.o_proj", "linear")
    assert (refused.outcome, refused.excluded) == ("error", False)
    assert "no target" in refused.why


def test_equal_groups_are_one_scheme() -> None:
    same = {**INT4, "symmetric": True}
    groups = {"a": {"targets": ["re:.*up_proj$"], "weights": INT4}, "b": {"targets": ["Linear"], "weights": same}}
    assert _compressed([], config_groups=groups).ask(LAYER + "mlp.experts", "moe").outcome == "quantized"


def test_a_group_without_weights_leaves_its_modules_alone_and_sglang_would_not_start() -> None:
    reading = _compressed([], config_groups={"a": {"targets": ["Linear"], "weights": None}})
    assert reading.ask(LAYER + "mlp.down_proj", "linear").outcome == "unquantized"
    assert "without weights" in reading.refusals[0]


def test_without_exclusions_the_list_counts_as_empty() -> None:
    for read in READINGS.values():
        reading = read([LAYER + "self_attn.q_proj", LAYER + "mlp.experts.0.up_proj"])
        assert reading.ask(LAYER + "self_attn.qkv_proj", "linear").outcome == "error"
        assert reading.ask(LAYER + "self_attn.qkv_proj", "linear", exclusions=False).outcome == "quantized"
        assert reading.ask(LAYER + "mlp.experts", "moe", exclusions=False).outcome == "quantized"


def test_the_two_ways_past_a_compressed_tensors_list() -> None:
    linear = _compressed(["re:.*"], linear_fp8_config={"quant_method": "fp8"}).ask(LAYER + "mlp.gate", "linear")
    assert (linear.outcome, linear.scheme, linear.excluded) == ("quantized", "linear_fp8_config", True)
    mxfp4 = {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}
    reading = _compressed(["re:.*"], config_groups={"g": {"targets": ["Linear"], "weights": mxfp4}})
    experts = reading.ask(LAYER + "mlp.experts", "moe")
    assert (experts.outcome, experts.scheme, experts.excluded) == ("quantized", "g", True)
    assert reading.ask(LAYER + "mlp.gate", "linear").outcome == "unquantized"


def test_quark_schemes_by_pattern_type_and_experts() -> None:
    fp4, fp8 = {"weight": {"dtype": "fp4"}}, {"weight": {"dtype": "fp8_e4m3"}}
    layers = {"*self_attn*": fp8, LAYER + "mlp.experts.0.up_proj": fp4, LAYER + "mlp.experts.2.up_proj": fp4}
    reading = _quark([], layer_quant_config=layers, layer_type_quant_config={"RowParallelLinear": fp8})
    assert reading.ask(LAYER + "self_attn.qkv_proj", "linear").scheme == "*self_attn*"
    assert reading.ask(LAYER + "mlp.down_proj", "linear").scheme == "RowParallelLinear"
    assert reading.ask(LAYER + "mlp.gate", "linear").scheme == "global"
    assert reading.ask(LAYER + "mlp.experts", "moe").outcome == "error"
    mixed = _quark([], layer_quant_config={"*q_proj": fp8})
    assert mixed.ask(LAYER + "self_attn.qkv_proj", "linear").outcome == "error"


def test_fp8_reads_the_first_key_that_is_present_even_if_it_is_null() -> None:
    config = {
        "quant_method": "fp8",
        "ignored_layers": None,
        "modules_to_not_convert": ["lm_head", "gate"],
        "ignore": ["x"],
    }
    assert not engine_reading(read_config(config), "sglang").ask(LAYER + "mlp.gate", "linear").excluded
    del config["ignored_layers"]
    reading = engine_reading(read_config(config), "sglang")
    assert reading.ask(LAYER + "mlp.gate", "linear").excluded
    assert not reading.ask(LAYER + "x", "linear").excluded


def test_fp8_knows_two_families_by_itself_and_others_only_when_told() -> None:
    config = read_config(
        {"quant_method": "fp8", "ignored_layers": [LAYER + "linear_attn.in_proj_b", LAYER + "linear_attn.in_proj_a"]}
    )
    name = LAYER + "linear_attn.in_proj_ba"
    assert not engine_reading(config, "sglang").ask(name, "linear").excluded
    assert engine_reading(config, "sglang", {"in_proj_ba": ["in_proj_b", "in_proj_a"]}).ask(name, "linear").excluded


def test_the_mapper_rewrites_entries_before_they_are_read() -> None:
    config = read_config(
        {
            "quant_method": "quark",
            "exclude": ["re:model.layers.61.*", r"re:model\.layers\.61\..*", "language_model.lm_head"],
        }
    )
    plain, mapped = (
        engine_reading(config, "sglang"),
        engine_reading(config, "sglang", mapper=Mapper({"model.layers.61": "model.decoder"})),
    )
    name = "model.decoder.mlp.gate"
    assert not plain.ask(name, "linear").excluded
    assert [entry.where for entry in mapped.ask(name, "linear").entries] == ["quantization_config.exclude[0]"]
    assert (plain.ask("lm_head", "linear").excluded, mapped.ask("lm_head", "linear").excluded) == (False, True)


def test_the_case_of_the_forgotten_draft() -> None:
    """Of a W4AFP8 list that names the target's layer 0 and nothing of the draft, SGLang answers for both spellings."""
    reading = _compressed(["lm_head", "model.layers.0.mlp.gate", "re:.*linear_attn.*"])
    assert reading.ask("mtp.layers.0.mlp.experts", "moe").outcome == "quantized"
    assert reading.ask("mtp.layers.0.self_attn.qkv_proj", "linear").outcome == "quantized"
    assert reading.ask("mtp.layers.0.mlp.gate", "linear").outcome == "quantized"
    assert reading.ask("model.layers.0.mlp.gate", "linear").outcome == "unquantized"


def test_an_engine_or_a_dialect_that_is_not_known_gets_no_answer() -> None:
    for reading in (
        engine_reading(read_config({"quant_method": "fp8"}), "an engine"),
        engine_reading(read_config({"quant_method": "vptq", "modules_to_not_convert": ["gate"]}), "sglang"),
    ):
        answer = reading.ask("gate", "linear")
        assert (reading.supported, answer.outcome, answer.excluded) == (False, None, False)
        assert "not known" in answer.why
        assert reading.matching("gate", "linear") == ()
        assert not reading.listed("gate", "linear").excluded


def test_what_stops_the_engine_beforehand_is_told_apart() -> None:
    assert _compressed([]).refusals == ()
    assert "null" in _compressed(None).refusals[0]
    assert any("export" in refusal for refusal in _quark([]).refusals)
    upper = engine_reading(
        read_config({"quant_method": "FP8", "weight_block_size": [128, 128], "activation_scheme": "x"}), "sglang"
    )
    assert "FP8" in upper.refusals[0]
