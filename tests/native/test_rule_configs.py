from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import NativeConfigError, read_config

GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}


def test_the_rules_of_gptq_keep_their_order_and_their_signs() -> None:
    config = read_config({**GPTQ, "dynamic": {"+:.*up": {"bits": 8}, r"-:.*mtp\..*": {}, "down": {"bits": "8"}}})
    assert [entry.text for entry in config.entries] == [r"-:.*mtp\..*"]
    assert config.entries[0].where == r"quantization_config.dynamic['-:.*mtp\\..*']"
    assert [(group.name, group.role, group.quantizes) for group in config.groups] == [
        ("+:.*up", "rule", True),
        (r"-:.*mtp\..*", "rule", False),
        ("down", "rule", True),
        ("gptq", "global", True),
    ]
    assert [group.arguments["bits"] for group in config.groups] == [8, 4, 4, 4]


@pytest.mark.parametrize("published", [["q_proj", "k_proj"], [["q_proj"], ["k_proj"]]])
def test_what_gptq_quantizes_may_be_nested(published: Any) -> None:
    config = read_config({**GPTQ, "modules_in_block_to_quantize": published})
    assert [entry.text for entry in config.included] == ["q_proj", "k_proj"]
    assert config.entries == ()


@pytest.mark.parametrize("published", [None, {}])
def test_no_rules_are_no_rules(published: Any) -> None:
    config = read_config({**GPTQ, "dynamic": published, "modules_in_block_to_quantize": None})
    assert (config.dialect, config.entries, config.included) == ("gptq", (), ())
    assert len(config.groups) == 1


def test_auto_round_reads_sixteen_bits_as_an_exclusion_and_blocks_in_every_spelling() -> None:
    extra = {"lm_head": {"bits": 16, "data_type": "float"}, ".*up.*": {"bits": 8}}
    config = read_config(
        {"quant_method": "auto-round", "extra_config": extra, "packing_format": "auto_round:auto_gptq"}
    )
    assert [entry.text for entry in config.entries] == ["lm_head"]
    assert config.format == "auto_round:auto_gptq"
    for blocks in ("model.layers,mtp.layers", ["model.layers", "mtp.layers"], [["model.layers"], ["mtp.layers"]]):
        config = read_config({"quant_method": "intel/auto-round", "to_quant_block_names": blocks})
        assert [entry.text for entry in config.included] == ["model.layers", "mtp.layers"]


def test_torchao_maps_names_to_configs_or_to_nothing() -> None:
    data = {"module_fqn_to_config": {"lm_head": None, "re:.*up": {"_type": "Int4"}, "_default": {"_type": "Int8"}}}
    config = read_config(
        {"quant_method": "torchao", "quant_type": {"default": {"_type": "FqnToConfig", "_data": data}}}
    )
    assert [entry.text for entry in config.entries] == ["lm_head"]
    assert config.entries[0].where == "quantization_config.quant_type.default._data.module_fqn_to_config['lm_head']"
    assert config.groups[-1].arguments == {"_type": "Int8"}
    assert config.format == "FqnToConfig"
    plain = read_config(
        {"quant_method": "torchao", "quant_type": "int4_weight_only", "modules_to_not_convert": ["conv"]}
    )
    assert (plain.format, [entry.text for entry in plain.entries]) == ("int4_weight_only", ["conv"])


def test_modelslim_is_known_by_its_tensors_alone() -> None:
    tensors = {"model_quant_type": "W8A8", "a.q_proj.weight": "W8A8", "a.q_proj.deq_scale": "W8A8", "b.weight": "FLOAT"}
    config = read_config(tensors, "quant_model_description.json")
    assert (config.dialect, config.format) == ("modelslim", "W8A8")
    assert [(group.name, group.quantizes) for group in config.groups] == [("W8A8", True), ("FLOAT", False)]
    assert [entry.where for entry in config.entries] == ["quant_model_description.json['b.weight']"]


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({**GPTQ, "dynamic": ["-:.*"]}, "quantization_config.dynamic: expected an object"),
        ({**GPTQ, "dynamic": {"-:.*": 4}}, "quantization_config.dynamic.-:.*"),
        ({**GPTQ, "bits": "4"}, "quantization_config.bits"),
        ({**GPTQ, "lm_head": "yes"}, "quantization_config.lm_head"),
        ({**GPTQ, "modules_in_block_to_quantize": [4]}, "quantization_config.modules_in_block_to_quantize"),
        ({"quant_method": "auto-round", "extra_config": {"lm_head": 16}}, "quantization_config.extra_config.lm_head"),
        ({"quant_method": "auto-round", "block_name_to_quantize": 4}, "quantization_config.block_name_to_quantize"),
        (
            {"quant_method": "torchao", "quant_type": {"default": {"_data": {"fqn_to_config": {"a": 4}}}}},
            "quantization_config.quant_type",
        ),
        ({"quant_method": "torchao", "modules_to_not_convert": "conv"}, "quantization_config.modules_to_not_convert"),
        ({"quant_method": "modelslim", "a.weight": 8}, "'a.weight'"),
    ],
)
def test_wrong_types_are_refused_with_their_place(config: dict[str, Any], place: str) -> None:
    with pytest.raises(NativeConfigError) as caught:
        read_config(config)
    assert place in str(caught.value)
    assert "correct the checkpoint's config file" in str(caught.value)


@pytest.mark.parametrize("method", ["exl3", "hqq", "mlx", "vptq", "aqlm", "gptq_v3"])
def test_other_methods_stay_unknown(method: str) -> None:
    config = read_config({"quant_method": method, "ignore": ["lm_head"], "dynamic": {"-:.*": {}}})
    assert config.dialect == f"unknown:{method}"
    assert config.entries == config.groups == config.included == ()
