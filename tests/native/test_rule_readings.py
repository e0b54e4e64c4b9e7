from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import Reading, engine_reading, native_list, producer_reading, read_config

PACKED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}
AUTO_ROUND = {"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}
LAYER = "model.layers.3."
EXPERTS = LAYER + "mlp.experts"


def _gptq(dynamic: dict[str, Any], engine: str = "sglang", **more: Any) -> Reading:
    return engine_reading(read_config({**GPTQ, "dynamic": dynamic, **more}), engine, PACKED)


def _auto_round(extra: dict[str, Any] | None, engine: str = "sglang", **more: Any) -> Reading:
    config = {**AUTO_ROUND, **({} if extra is None else {"extra_config": extra}), **more}
    return engine_reading(read_config(config), engine, PACKED)


def _modelslim(tensors: dict[str, str], engine: str = "sglang") -> Reading:
    config = {"quant_method": "modelslim", **{f"{name}.weight": scheme for name, scheme in tensors.items()}}
    return engine_reading(read_config(config), engine, PACKED)


def test_the_first_rule_of_gptq_that_fits_decides() -> None:
    reading = _gptq({r"+:.*layers\.3\..*down": {"bits": 8}, ".*o_proj": {"bits": 8}, "-:.*(down|o|up)_proj": {}})
    assert reading.ask(LAYER + "mlp.down_proj", "linear").scheme == r"+:.*layers\.3\..*down"
    assert reading.ask(LAYER + "self_attn.o_proj", "linear").scheme == ".*o_proj"
    assert reading.ask("model.layers.4.mlp.down_proj", "linear").outcome == "unquantized"
    assert reading.ask(LAYER + "mlp.gate_up_proj", "linear").excluded
    assert reading.ask(LAYER + "self_attn.qkv_proj", "linear").scheme == "gptq"


def test_a_rule_is_matched_from_the_start_and_broken_ones_stop_the_engine_in_their_turn() -> None:
    reading = _gptq({"-:down_proj": {}, "-:.*up": {}, "-:(": {}})
    assert reading.ask(LAYER + "mlp.up_proj", "linear").excluded
    answer = reading.ask(LAYER + "mlp.down_proj", "linear")
    assert answer.outcome == "error"
    assert "'-:('" in answer.why


def test_rules_without_exclusions_keep_the_other_settings() -> None:
    reading = _gptq({"-:.*": {}, "+:.*down.*": {"bits": 8}})
    assert reading.ask(LAYER + "mlp.down_proj", "linear").outcome == "unquantized"
    assert reading.ask(LAYER + "mlp.down_proj", "linear", exclusions=False).scheme == "+:.*down.*"
    assert reading.ask(LAYER + "mlp.up_proj", "linear", exclusions=False).scheme == "gptq"


def test_sglang_never_asks_the_rules_about_experts_and_vllm_does() -> None:
    dynamic = {r"-:.*\.mlp\.experts.*": {}}
    assert _gptq(dynamic).ask(EXPERTS, "moe").outcome == "quantized"
    assert _gptq(dynamic, "vllm").ask(EXPERTS, "moe").outcome == "unquantized"
    assert _gptq(dynamic, "gptqmodel").ask(EXPERTS + ".7.up_proj", "moe").excluded


@pytest.mark.parametrize(
    ("more", "outcome"), [({}, "unquantized"), ({"lm_head": False}, "unquantized"), ({"lm_head": True}, "quantized")]
)
def test_the_head_is_quantized_only_on_request(more: dict[str, Any], outcome: str) -> None:
    assert _gptq({}, **more).ask("lm_head", "lm_head").outcome == outcome


def test_settings_without_a_kernel_are_refused() -> None:
    assert _gptq({"+:.*": {"bits": 3}}).ask(LAYER + "mlp.up_proj", "linear").outcome == "error"
    assert _gptq({}).refusals == ()
    for more in ({"bits": 3}, {"sym": False}, {"group_size": 256}, {"checkpoint_format": "marlin"}):
        assert _gptq({}, **more).refusals
    assert "desc_act" in engine_reading(read_config({"quant_method": "gptq", "bits": 4}), "sglang").refusals[0]


def test_a_list_of_what_is_quantized_leaves_out_the_rest() -> None:
    included = [["self_attn.q_proj", "self_attn.k_proj"], ["mlp.gate_proj", "mlp.up_proj"]]
    reading = _gptq({}, "vllm", modules_in_block_to_quantize=included)
    assert reading.ask(LAYER + "mlp.gate_up_proj", "linear").outcome == "quantized"
    assert reading.ask(LAYER + "mlp.down_proj", "linear").excluded
    mixed = reading.ask(LAYER + "self_attn.qkv_proj", "linear")
    assert mixed.outcome == "error"
    assert mixed.members is not None
    assert mixed.members[0] == (LAYER + "self_attn.v_proj",)
    assert (
        _gptq({}, modules_in_block_to_quantize=included).ask(LAYER + "mlp.down_proj", "linear").outcome == "quantized"
    )
    optimum = _gptq({"-:.*": {}}, "transformers", modules_in_block_to_quantize=included)
    assert optimum.ask(LAYER + "mlp.up_proj", "linear").outcome == "quantized"
    assert optimum.ask(LAYER + "mlp.down_proj", "linear").outcome == "unquantized"


def test_what_the_producer_of_gptq_excluded() -> None:
    config = read_config({**GPTQ, "dynamic": {"-:.*qkv_proj$": {}, r"-:.*mtp\..*": {}}})
    reading = producer_reading(config, PACKED)
    assert reading.ask(LAYER + "self_attn.q_proj", "linear").excluded
    assert reading.ask("mtp.fc", "linear").excluded
    assert not reading.ask(LAYER + "self_attn.o_proj", "linear").excluded


def test_a_plain_key_of_auto_round_is_a_name_and_a_special_one_an_expression() -> None:
    reading = _auto_round(
        {"model.layers.3.mlp.gate": {"bits": 16}, r".*\.shared_expert_gate": {"bits": 16}, "mlp.o": {"bits": 16}}
    )
    assert reading.ask(LAYER + "mlp.gate", "linear").excluded
    assert reading.ask(LAYER + "mlp.shared_expert_gate", "linear").excluded
    assert not reading.ask("model_layers_3.mlp.gate", "linear").excluded
    assert not reading.ask(LAYER + "mlp.o_proj", "linear").excluded


@pytest.mark.parametrize(("engine", "excluded"), [("sglang", False), ("vllm", True), ("auto-round", True)])
def test_how_much_of_a_name_an_expression_must_cover(engine: str, excluded: bool) -> None:
    assert _auto_round({r"mlp\.gate$": {"bits": 16}}, engine).ask(LAYER + "mlp.gate", "linear").excluded is excluded


def test_settings_of_fused_layers_must_agree_to_the_last() -> None:
    q, k, v = (LAYER + f"self_attn.{leaf}_proj" for leaf in "qkv")
    fused = LAYER + "self_attn.qkv_proj"
    assert _auto_round({one: {"bits": 16} for one in (q, k, v)}).ask(fused, "linear").excluded
    half = _auto_round({q: {"bits": 16}}).ask(fused, "linear")
    assert half.outcome == "error"
    assert half.members == ((q,), (k, v))
    # All three are left alone, but one of them with another group size, which no layer then has.
    other = _auto_round({q: {"bits": 16, "group_size": -1}, k: {"bits": 16}, v: {"bits": 16}})
    assert other.ask(fused, "linear").outcome == "error"
    assert _auto_round({fused: {"bits": 8}, q: {"bits": 16}}).ask(fused, "linear").scheme == fused


def test_only_vllm_opens_a_fused_layer_because_a_rule_names_a_part() -> None:
    packed = {"qkv": ["q", "k"], **PACKED}
    config = read_config({**AUTO_ROUND, "extra_config": {".*in_proj_qkvz": {"bits": 16}}})
    name = LAYER + "linear_attn.in_proj_qkvz"
    assert not engine_reading(config, "sglang", packed).ask(name, "linear").excluded
    assert engine_reading(config, "vllm", packed).ask(name, "linear").excluded


def test_what_begins_like_the_experts_counts_for_them() -> None:
    names = [f"{EXPERTS}.{expert}.up_proj" for expert in (0, 1)]
    assert _auto_round({name: {"bits": 16} for name in names}).ask(EXPERTS, "moe").excluded
    assert _auto_round({names[0]: {"bits": 16}, names[1]: {"bits": 8}}).ask(EXPERTS, "moe").outcome == "error"
    assert _auto_round({EXPERTS + "_something": {"bits": 16}}).ask(EXPERTS, "moe").excluded


def test_outside_the_blocks_nothing_is_quantized_that_is_not_named() -> None:
    reading = _auto_round(
        {"visual.proj": {"bits": 8}, "visual.odd": {"sym": True}}, block_name_to_quantize="model.layers.1,mtp"
    )
    assert reading.ask("model.layers.11.mlp.up_proj", "linear").outcome == "quantized"
    assert reading.ask("model.layers.2.mlp.up_proj", "linear").excluded
    assert reading.ask("visual.proj", "linear").scheme == "visual.proj"
    assert reading.ask("visual.odd", "linear").outcome == "quantized"
    assert reading.ask("visual.other", "linear", exclusions=False).outcome == "quantized"


def test_the_head_needs_a_rule() -> None:
    assert _auto_round(None).ask("lm_head", "lm_head").outcome == "unquantized"
    assert _auto_round({"lm_head": {"bits": 8}}).ask("lm_head", "lm_head").scheme == "lm_head"


def test_formats_that_sglang_lacks_stop_it() -> None:
    assert _auto_round(None).refusals == ()
    for more in (
        {"packing_format": "auto_round:llm_compressor"},
        {"data_type": "nv_fp"},
        {"bits": 16},
        {"backend": "x"},
    ):
        assert _auto_round(None, **more).refusals
    assert "intel/auto-round" in _auto_round(None, quant_method="intel/auto-round").refusals[0]


def _torchao(configs: dict[str, Any], listed: list[str] | None = None) -> dict[str, Any]:
    quant_type = {"default": {"_type": "FqnToConfig", "_data": {"fqn_to_config": configs}}}
    return {"quant_method": "torchao", "quant_type": quant_type, "modules_to_not_convert": listed}


def test_torchao_prefers_parameters_to_modules_and_names_to_expressions() -> None:
    four, eight = {"_type": "Int4"}, {"_type": "Int8"}
    configs = {
        r"re:.*up_proj": None,
        "a.up_proj": four,
        "a.up_proj.weight": eight,
        r"re:b\..*\.weight": eight,
        "_default": four,
    }
    reading = producer_reading(read_config(_torchao(configs)))
    assert reading.ask("a.up_proj", "linear").scheme == "a.up_proj.weight"
    assert reading.ask("b.up_proj", "linear").scheme == r"re:b\..*\.weight"
    assert reading.ask("c.up_proj", "linear").excluded
    assert reading.ask("c.down_proj", "linear").scheme == "torchao"
    without = producer_reading(read_config(_torchao({"a": four})))
    assert without.ask("c.down_proj", "linear").outcome == "unquantized"


def test_a_plain_name_in_torchaos_list_must_begin_where_the_parameter_does() -> None:
    config = read_config(_torchao({"_default": {}}, ["gate", "model.layers.3.mlp.up_proj"]))
    for version in ("5.19.0", "5.24.0"):
        reading = engine_reading(config, f"transformers {version}")
        assert not reading.ask(LAYER + "mlp.gate", "linear").excluded
        assert reading.ask(LAYER + "mlp.up_proj", "linear").excluded
    assert engine_reading(config, "vllm").ask(LAYER + "mlp.gate", "linear").excluded
    assert not engine_reading(config, "sglang").supported


def test_vllm_compares_what_torchao_maps_to_nothing_as_a_list() -> None:
    reading = engine_reading(read_config(_torchao({"gate": None, "_default": {"_type": "Int4"}})), "vllm")
    assert reading.ask(LAYER + "mlp.gate", "linear").excluded
    assert not reading.ask(LAYER + "mlp.gate_proj", "linear").excluded


def test_modelslim_by_its_own_map() -> None:
    reading = producer_reading(
        read_config({"quant_method": "modelslim", "a.q_proj.weight": "W8A8", "b.weight": "FLOAT"})
    )
    assert reading.ask("a.q_proj", "linear").scheme == "W8A8"
    assert reading.ask("b", "linear").excluded
    assert reading.ask("c", "linear").outcome == "unquantized"
    assert not reading.ask("c", "linear").excluded


def test_sglang_finds_modelslims_names_in_several_spellings() -> None:
    reading = _modelslim({
        "language_model.model.layers.3.mlp.down_proj": "W8A8",
        "model.layers.3.block_sparse_moe.shared.down_proj": "FLOAT",
        "model.layers.3.self_attn.q_proj": "W8A8_DYNAMIC",
        "model.layers.3.self_attn.o_proj": "W4A16",
    })  # fmt: skip
    assert reading.ask(LAYER + "mlp.down_proj", "linear").scheme == "W8A8"
    assert reading.ask(LAYER + "mlp.shared.down_proj", "linear").excluded
    assert reading.ask(LAYER + "self_attn.qkv_proj", "linear").scheme == "W8A8_DYNAMIC"
    assert reading.ask(LAYER + "self_attn.o_proj", "linear").outcome == "unquantized"
    assert reading.ask("lm_head", "lm_head").outcome == "unquantized"


def test_the_first_expert_stands_for_all_in_modelslim() -> None:
    leaves = ("gate_proj", "up_proj", "down_proj")
    reading = _modelslim({f"{EXPERTS}.0.{leaf}": "W8A8_DYNAMIC" for leaf in leaves} | {f"{EXPERTS}.1.up_proj": "FLOAT"})
    assert reading.ask(EXPERTS, "moe").scheme == "W8A8_DYNAMIC"
    plain = _modelslim({f"{EXPERTS}.0.{leaf}": "FLOAT" for leaf in leaves}).ask(EXPERTS, "moe")
    assert plain.outcome == "error"
    assert "no scheme FLOAT" in plain.why
    assert _modelslim({}).ask(EXPERTS, "moe").outcome == "error"
    schemes = {"w1": "W8A8_DYNAMIC", "w3": "W4A8_DYNAMIC", "w2": "W8A8_DYNAMIC"}
    mixed = _modelslim({f"{EXPERTS}.0.{leaf}": scheme for leaf, scheme in schemes.items()})
    assert "different schemes" in mixed.ask(EXPERTS, "moe").why


def test_modelslims_fused_layers_must_agree() -> None:
    answer = _modelslim({LAYER + "mlp.gate_proj": "FLOAT", LAYER + "mlp.up_proj": "W8A8"}).ask(
        LAYER + "mlp.gate_up_proj", "linear"
    )
    assert answer.outcome == "error"
    assert answer.members == ((LAYER + "mlp.gate_proj",), (LAYER + "mlp.up_proj",))


def test_a_native_list_of_rules() -> None:
    found = native_list({**GPTQ, "dynamic": {r"-:.*mtp\..*": {}}}, packed=PACKED)
    assert found.excludes("mtp.fc")
    assert not found.excludes("model.fc")
    assert found.explain("mtp.fc").endswith(" by regex")
