"""Decisions: which rule decides, what its decision comes to, and how members become one answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, compressed, config, small_checkpoint

import qpolicy

LAYER = "model.layers.0"
STATES = {
    f"{LAYER}.self_attn.q_proj": "packed",
    f"{LAYER}.self_attn.k_proj": "packed",
    f"{LAYER}.self_attn.v_proj": "packed",
    f"{LAYER}.self_attn.o_proj": "plain",
    f"{LAYER}.mlp.gate": "plain",
    f"{LAYER}.mlp.gate_proj": "packed",
    f"{LAYER}.mlp.up_proj": "packed",
    f"{LAYER}.input_layernorm": "norm",
    "model.embed_tokens": "plain",
    "lm_head": "plain",
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> qpolicy.Checkpoint:
    return small_checkpoint(tmp_path, STATES, compressed(["lm_head", f"{LAYER}.mlp.gate"]))


def test_the_first_rule_that_applies_decides(checkpoint: qpolicy.Checkpoint) -> None:
    matcher = bound("**.mlp.gate: unquantized\n**.mlp.**: quantized\n**: unquantized", checkpoint)
    assert matcher.decide(f"{LAYER}.mlp.gate").rule.line == 2
    assert matcher.decide(f"{LAYER}.mlp.gate_up_proj").rule.line == 3
    assert matcher.decide(f"{LAYER}.self_attn.o_proj").rule.line == 4


def test_without_a_rule_the_list_decides(checkpoint: qpolicy.Checkpoint) -> None:
    matcher = bound("", checkpoint)
    gate, fused = matcher.decide(f"{LAYER}.mlp.gate"), matcher.decide(f"{LAYER}.self_attn.qkv_proj")
    assert (gate.action, gate.outcome, gate.rule) == ("native", "unquantized", None)
    assert (fused.action, fused.outcome, fused.scheme) == ("native", "quantized", None)


def test_otherwise_covers_what_no_rule_decides(checkpoint: qpolicy.Checkpoint) -> None:
    matcher = bound("otherwise: unquantized", checkpoint)
    assert matcher.decide(f"{LAYER}.self_attn.qkv_proj").action == "unquantized"
    assert matcher.decide("lm_head").action == "unquantized"
    assert matcher.decide("model.embed_tokens").action == "native"


def test_a_fused_name_stands_for_its_parts_on_disk(checkpoint: qpolicy.Checkpoint) -> None:
    decision = bound("", checkpoint).decide(f"{LAYER}.self_attn.qkv_proj")
    assert [member.name.rpartition(".")[2] for member in decision.members] == ["q_proj", "k_proj", "v_proj"]


@pytest.mark.parametrize("pattern", ["**.qkv_proj", "**.{q,k,v}_proj", "model.layers.0.self_attn.**"])
def test_a_member_is_caught_by_its_own_and_by_its_fused_name(checkpoint: qpolicy.Checkpoint, pattern: str) -> None:
    matcher = bound(f"{pattern}: unquantized", checkpoint)
    assert matcher.decide(f"{LAYER}.self_attn.qkv_proj").outcome == "unquantized"
    assert matcher.decide(f"{LAYER}.self_attn.q_proj").outcome == "unquantized"
    assert matcher.decide(f"{LAYER}.mlp.gate_up_proj").outcome == "quantized"


def test_members_that_disagree_are_an_error_that_names_them(checkpoint: qpolicy.Checkpoint) -> None:
    decision = bound("**.q_proj: unquantized", checkpoint).decide(f"{LAYER}.self_attn.qkv_proj")
    assert (decision.action, decision.outcome, decision.problem) == ("error", "error", "disagree")
    for told in ("q_proj unquantized by test.qpolicy:2:1", "k_proj", "v_proj", "quantized (group_0)", "list"):
        assert told in decision.reason


def test_the_packed_mapping_of_the_engine_replaces_the_common_one(checkpoint: qpolicy.Checkpoint) -> None:
    matcher = bound("", checkpoint, packed={"all_proj": ["q_proj", "o_proj"]})
    assert len(matcher.decide(f"{LAYER}.self_attn.all_proj").members) == 2
    assert not matcher.members(f"{LAYER}.self_attn.qkv_proj")


def test_quantized_asks_the_list_as_if_it_excluded_nothing(checkpoint: qpolicy.Checkpoint) -> None:
    decision = bound("**.mlp.gate: quantized", checkpoint).decide(f"{LAYER}.mlp.gate")
    assert (decision.action, decision.outcome) == ("quantized", "quantized")


def test_quantized_without_a_target_is_an_error(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, STATES, compressed(targets=["re:.*mlp.*"]))
    decision = bound("**.o_proj: quantized", checkpoint).decide(f"{LAYER}.self_attn.o_proj")
    assert (decision.outcome, decision.problem) == ("error", "refused")
    assert "test.qpolicy:2:1" in decision.reason


def test_quantized_as_a_named_scheme(checkpoint: qpolicy.Checkpoint) -> None:
    assert bound("**.o_proj: quantized as group_0", checkpoint).decide(f"{LAYER}.self_attn.o_proj").scheme == "group_0"
    with pytest.raises(qpolicy.BindError, match=r"test.qpolicy:2:1: .*'group_1'; it has: group_0"):
        bound("**.o_proj: quantized as group_1", checkpoint)


def test_the_same_scheme_by_name_and_by_list_agrees(checkpoint: qpolicy.Checkpoint) -> None:
    matcher = bound("**.q_proj: quantized as group_0", checkpoint)
    assert matcher.decide(f"{LAYER}.self_attn.qkv_proj").outcome == "quantized"


def test_an_error_rule_is_a_decision(checkpoint: qpolicy.Checkpoint) -> None:
    decision = bound('**.o_proj: error "needs a newer engine"', checkpoint).decide(f"{LAYER}.self_attn.o_proj")
    assert (decision.action, decision.outcome) == ("error", "error")
    assert decision.reason == f"{LAYER}.self_attn.o_proj: needs a newer engine"


def test_a_name_without_tensors_makes_tensor_facts_unknown(checkpoint: qpolicy.Checkpoint) -> None:
    decision = bound("when not has(weight_packed): unquantized", checkpoint).decide(f"{LAYER}.mlp.misspelt_proj")
    assert decision.action == "native"
    assert any("reaches no stored tensor" in warning for warning in decision.warnings)
    assert any("test.qpolicy:2:1" in warning and "unknown" in warning for warning in decision.warnings)


def test_strict_mode_refuses_an_unknown_condition_that_could_matter(checkpoint: qpolicy.Checkpoint) -> None:
    rule = "when not has(weight_packed): unquantized"
    missing = f"{LAYER}.mlp.misspelt_proj"
    assert bound(rule, checkpoint, strict=True).decide(missing).outcome == "error"
    harmless = bound("when has(weight_packed): quantized", checkpoint, strict=True).decide(missing)
    assert harmless.outcome == "quantized"


def test_without_a_checkpoint_only_names_are_known() -> None:
    matcher = bound("**.gate: unquantized\nwhen has(weight_packed): quantized", None)
    assert matcher.decide("a.gate").outcome == "unquantized"
    other = matcher.decide("a.up_proj")
    assert (other.action, other.outcome) == ("native", None)
    assert other.warnings


def test_half_of_a_fused_layer_in_the_list_is_an_error(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, STATES, compressed([f"{LAYER}.self_attn.q_proj"]))
    decision = bound("", checkpoint).decide(f"{LAYER}.self_attn.qkv_proj")
    assert decision.outcome == "error"
    assert "q_proj" in decision.reason


def test_attention_layers_are_always_native(checkpoint: qpolicy.Checkpoint) -> None:
    decision = bound("**: unquantized", checkpoint).decide(f"{LAYER}.self_attn.attn", kind="attention")
    assert decision.action == "native"


def test_a_tied_head_has_the_embeddings_tensors(tmp_path: Path) -> None:
    states = {name: state for name, state in STATES.items() if name != "lm_head"}
    tied = small_checkpoint(tmp_path, states, compressed(), tie_word_embeddings=True)
    decision = bound("lm_head when not quantized_on_disk: unquantized", tied).decide("lm_head", kind="lm_head")
    assert (decision.action, decision.rule.line) == ("unquantized", 2)


def test_a_checkpoint_without_quantization_is_unquantized(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, {"model.layers.0.mlp.up_proj": "plain"})
    assert bound("", checkpoint).decide("model.layers.0.mlp.up_proj").outcome == "unquantized"
    assert "quantization_config" not in config(None)
