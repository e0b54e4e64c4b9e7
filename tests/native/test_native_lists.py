from __future__ import annotations

import pytest

import qpolicy.native
from qpolicy.errors import BindError, MixedMembers, QPolicyError
from qpolicy.native import native_list

LAYER = "model.layers.3."


def test_excludes_in_place_of_a_substring_test() -> None:
    found = native_list({"quant_method": "fp8", "modules_to_not_convert": [LAYER + "mlp.gate"]})
    assert found.excludes(LAYER + "mlp.gate")
    assert found.excludes(LAYER + "mlp.gate", kind="linear")
    assert not found.excludes(LAYER + "mlp.gate_up_proj")
    assert not found.excludes("lm_head", kind="lm_head")


def test_a_half_excluded_fused_layer_is_named_with_its_members() -> None:
    packed = {"qkv_proj": ["q_proj", "k_proj", "v_proj"]}
    config = {"quant_method": "compressed-tensors", "ignore": [LAYER + "self_attn.k_proj"]}
    with pytest.raises(MixedMembers) as caught:
        native_list(config, packed=packed).excludes(LAYER + "self_attn.qkv_proj")
    assert caught.value.module == LAYER + "self_attn.qkv_proj"
    assert caught.value.excluded == (LAYER + "self_attn.k_proj",)
    assert len(caught.value.kept) == 2
    assert "list all of its members or none" in str(caught.value)
    assert not native_list(config).excludes(LAYER + "self_attn.qkv_proj")


def test_half_excluded_experts_are_mixed_members_too() -> None:
    config = {"quant_method": "compressed-tensors", "ignore": [LAYER + "mlp.experts.0.up_proj"]}
    with pytest.raises(MixedMembers, match="up_proj"):
        native_list(config).excludes(LAYER + "mlp.experts", kind="moe")


def test_a_layer_without_a_target_is_simply_not_excluded() -> None:
    assert not native_list({"quant_method": "compressed-tensors", "config_groups": {}}).excludes("a", "linear")


@pytest.mark.parametrize(
    ("config", "engine", "reason"),
    [
        ({"quant_method": "fp8"}, "an engine", "how an engine reads fp8 is not known"),
        ({"quant_method": "vptq"}, "sglang", "unknown:vptq is not known"),
        ({"quant_method": "quark", "exclude": ["re:("]}, "sglang", r"quantization_config\.exclude\[0\]"),
    ],
)
def test_what_cannot_be_answered_is_an_error(config: dict[str, object], engine: str, reason: str) -> None:
    with pytest.raises(BindError, match=reason):
        native_list(config, engine).excludes("model.layers.0.mlp.gate")


def test_the_explanation_names_entries_and_operators() -> None:
    found = native_list({"quant_method": "compressed-tensors", "ignore": ["mlp.gate", "re:.*gate$"]})
    text = found.explain(LAYER + "mlp.gate")
    assert text.splitlines()[0].startswith(f"{LAYER}mlp.gate (linear): unquantized by sglang 0.5.23")
    assert "quantization_config.ignore[0]: 'mlp.gate' by dotted-suffix" in text
    assert "quantization_config.ignore[1]: 're:.*gate$' by regex" in text
    assert "unknown" in native_list({"quant_method": "vptq"}).explain("a")


def test_a_malformed_config_is_an_error_of_ours() -> None:
    with pytest.raises(QPolicyError, match=r"quantization_config\.ignore"):
        native_list({"quant_method": "compressed-tensors", "ignore": "lm_head"})


def test_everything_public_is_documented() -> None:
    assert all(getattr(qpolicy.native, name).__doc__ for name in qpolicy.native.__all__)
