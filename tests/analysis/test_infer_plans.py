"""What a learned policy says for checkpoints of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inferring import assert_agrees, findings, rules
from small import compressed, fp8, small_checkpoint

import qpolicy
from qpolicy.analysis.inference import infer, infer_with_facts

ATTENTION = [f"self_attn.{name}_proj" for name in "qkvo"]
PACKED = {f"model.layers.{layer}.{name}": "packed" for layer in range(4) for name in (*ATTENTION, "mlp.down_proj")}


def checkpoint(folder: Path, states: Mapping[str, str], quantization: Any = None, **more: Any) -> qpolicy.Checkpoint:
    plain = {"lm_head": "plain", "model.embed_tokens": "plain"}
    return small_checkpoint(folder, {**plain, **states}, quantization or compressed(), **more)


def said(found: qpolicy.Checkpoint, **how: Any) -> list[str]:
    learned = infer(found, **how)
    assert_agrees(found, learned)
    assert not learned.unmet
    assert not findings(found, learned)
    return [line for line in learned.text.splitlines() if line.startswith("let ")] + rules(learned)


def test_layers_that_differ_are_named_by_their_numbers(tmp_path: Path) -> None:
    plain = {f"model.layers.{layer}.mlp.down_proj": "plain" for layer in (0, 1, 3)}
    assert said(checkpoint(tmp_path, {**PACKED, **plain})) == [
        "lm_head: unquantized",
        "model.layers.{0..1,3}.mlp.down_proj: unquantized",
        "otherwise: quantized",
    ]


def test_a_whole_subtree_is_named_by_its_root(tmp_path: Path) -> None:
    plain = {name: "plain" for name in PACKED if ".layers.2." in name}
    assert said(checkpoint(tmp_path, {**PACKED, **plain}))[1] == "model.layers.2.**: unquantized"


def test_spellings_are_put_in_braces(tmp_path: Path) -> None:
    plain = {name: "plain" for name in PACKED if name.endswith(("q_proj", "k_proj", "v_proj"))}
    assert said(checkpoint(tmp_path, {**PACKED, **plain}))[1] == (
        "model.layers.{0..}.self_attn.{q,k,v}_proj: unquantized"
    )


def test_groups_that_everybody_knows_are_sets(tmp_path: Path) -> None:
    routers = {f"model.layers.{layer}.mlp.gate": "plain" for layer in range(4)}
    vision = {f"model.visual.blocks.{block}.{name}": "plain" for block in range(2) for name in ("attn.qkv", "mlp.fc1")}
    draft = {"mtp.fc": "plain", "mtp.layers.0.self_attn.o_proj": "plain"}
    assert said(checkpoint(tmp_path, {**PACKED, **routers, **vision, **draft})) == [
        "let routers = model.layers.{0..}.mlp.gate",
        "let vision = model.visual.**",
        "lm_head: unquantized",
        "@routers: unquantized",
        "@vision: unquantized",
        "@mtp: unquantized",
        "otherwise: quantized",
    ]


def test_a_group_of_which_a_part_is_quantized_is_no_set(tmp_path: Path) -> None:
    draft = {"mtp.fc": "plain", "mtp.layers.0.mlp.down_proj": "packed"}
    routers = {"model.layers.0.mlp.gate": "plain", "model.layers.1.mlp.gate": "packed"}
    # Of the other architectures it is known that they build routers without asking anybody.
    assert said(checkpoint(tmp_path, {**PACKED, **draft, **routers}, arch="OtherForCausalLM")) == [
        "lm_head: unquantized",
        "model.layers.0.mlp.gate: unquantized",
        "mtp.fc: unquantized",
        "otherwise: quantized",
    ]


def test_words_at_any_depth_join_target_and_draft(tmp_path: Path) -> None:
    plain = {f"{stem}.mlp.shared_expert.down_proj": "plain" for stem in ("model.layers.0", "mtp.layers.0")}
    assert "**.shared_expert.down_proj" not in said(checkpoint(tmp_path / "a", {**PACKED, **plain}))
    more = {"mtp.layers.0.mlp.down_proj": "packed"}
    assert "**.mlp.shared_expert.down_proj: unquantized" in said(
        checkpoint(tmp_path / "b", {**PACKED, **plain, **more})
    )


def test_several_schemes_are_left_to_the_list(tmp_path: Path) -> None:
    quantization = compressed(["lm_head", "model.layers.0.mlp.down_proj"], targets=["re:.*mlp.*"])
    other = compressed(targets=["re:.*self_attn.*"])["config_groups"]["group_0"]
    quantization["config_groups"]["group_1"] = other
    plain = {"model.layers.1.mlp.down_proj": "plain"}
    assert said(checkpoint(tmp_path, {**PACKED, **plain}, quantization)) == [
        "lm_head: unquantized",
        "model.layers.1.mlp.down_proj: unquantized",
        "model.layers.0.mlp.down_proj: quantized",
        "otherwise: native",
    ]


def test_a_tied_head_is_named_beside_its_embedding(tmp_path: Path) -> None:
    states = {**PACKED, "model.embed_tokens": "plain"}
    tied = small_checkpoint(tmp_path, states, compressed(), tie_word_embeddings=True)
    assert said(tied) == ["model.embed_tokens, **.lm_head: unquantized", "otherwise: quantized"]


def test_the_list_is_said_even_where_it_is_wrong(tmp_path: Path) -> None:
    found = checkpoint(tmp_path, PACKED, compressed(["re:.*self_attn.*"]))
    assert rules(infer(found, listed=True)) == [
        "lm_head: unquantized",
        "model.layers.{0..}.self_attn.**: unquantized",
        "otherwise: quantized",
    ]


def test_facts_speak_of_those_who_get_modules_wrong(tmp_path: Path) -> None:
    plain = {f"model.layers.{layer}.mlp.down_proj": "plain" for layer in (0, 1)}
    states = {**PACKED, **plain, "mtp.layers.0.mlp.down_proj": "packed"}
    # The draft's layer 0 is asked as the target's, and the entry answers for both.
    found = checkpoint(tmp_path, states, compressed(["lm_head", "model.layers.0.mlp.down_proj"]))
    assert rules(infer_with_facts(found)) == [
        "when target and not quantized_on_disk: unquantized",
        "when draft and quantized_on_disk: quantized",
        "otherwise: native",
    ]


def test_nothing_quantized_takes_no_rule(tmp_path: Path) -> None:
    found = small_checkpoint(tmp_path, {"lm_head": "plain", "model.layers.0.mlp.down_proj": "plain"})
    assert said(found) == ["otherwise: unquantized"]


def test_a_scheme_without_a_target_for_a_module_is_told(tmp_path: Path) -> None:
    learned = infer(checkpoint(tmp_path, PACKED, compressed(targets=["re:.*self_attn.*"])))
    assert len(learned.unmet) == 4
    assert all("mlp.down_proj" in told for told in learned.unmet)


@pytest.mark.parametrize("learn", [infer, infer_with_facts])
def test_tensors_that_no_config_explains_are_refused(tmp_path: Path, learn: Any) -> None:
    found = small_checkpoint(tmp_path, {"lm_head": "plain", **PACKED})
    with pytest.raises(qpolicy.QPolicyError, match=r"self_attn\.q_proj is quantized on disk, but no config file"):
        learn(found)


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(qpolicy.NothingToCheckError, match="nothing to learn from"):
        infer(small_checkpoint(tmp_path / "a", {"model.norm": "norm"}, fp8()))
    with pytest.raises(qpolicy.NothingToCheckError, match="no quantization config here"):
        infer(small_checkpoint(tmp_path / "b", {"lm_head": "plain"}), listed=True)
    with pytest.raises(qpolicy.QPolicyError, match="cannot be read as sglang does"):
        infer(small_checkpoint(tmp_path / "c", {"lm_head": "plain"}, {"quant_method": "nobody-knows"}), listed=True)
