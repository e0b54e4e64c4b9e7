"""Names that SGLang's classes give modules which are stored under other names."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, compressed, small_checkpoint

from qpolicy.bind.target_names import target_asked_names, target_stored_name
from qpolicy.bind.unasked import built_unasked
from qpolicy.lint.run import run_checks

CASES = [
    ("visual.blocks.0.attn.qkv_proj", "visual.blocks.0.attn.qkv"),
    ("visual.blocks.0.attn.qkv_proj", "model.visual.blocks.0.attn.qkv"),
    ("model.visual.blocks.0.attn.qkv_proj", "model.visual.blocks.0.attn.qkv"),
    ("blocks.3.attn.qkv_proj", "vision_tower.blocks.3.attn.qkv"),
    ("vision_tower.encoder.blocks.1.attn.qkv_proj", "vision_tower.encoder.blocks.1.wqkv"),
    ("vision_tower.encoder.blocks.1.attn.proj", "vision_tower.encoder.blocks.1.wo"),
    ("vision_tower.layers.0.self_attn.proj", "vision_tower.layers.0.self_attn.out_proj"),
    ("vision_model.transformer.layers.0.self_attn.proj", "vision_model.transformer.layers.0.self_attn.o_proj"),
    ("language_model.layers.0.mlp.down_proj", "model.language_model.layers.0.mlp.down_proj"),
    ("layers.2.self_attn.o_proj", "model.layers.2.self_attn.o_proj"),
]


@pytest.mark.parametrize(("asked", "stored"), CASES)
def test_a_name_reaches_what_is_stored_under_another(asked: str, stored: str) -> None:
    assert target_stored_name("sglang", asked, {stored}.__contains__) == stored
    assert asked in target_asked_names("sglang", stored)


@pytest.mark.parametrize(("asked", "stored"), CASES)
def test_a_stored_name_stands_as_it_is(asked: str, stored: str) -> None:
    assert target_stored_name("sglang", asked, {asked, stored}.__contains__) == asked
    assert target_stored_name("sglang", asked, lambda _: False) == asked
    assert target_stored_name("vllm", asked, {stored}.__contains__) == asked


def test_whole_segments_are_renamed_and_nothing_else() -> None:
    assert target_stored_name("sglang", "visuals.attn.qkv_proj_a", lambda name: name.endswith("attn.qkv_a")) == (
        "visuals.attn.qkv_proj_a"
    )


def test_the_plugins_question_and_the_offline_one_get_the_same_answer(tmp_path: Path) -> None:
    stored, asked = "model.visual.blocks.0.attn.qkv", "visual.blocks.0.attn.qkv_proj"
    states = {stored: "plain", "model.language_model.layers.0.mlp.down_proj": "packed"}
    checkpoint = small_checkpoint(tmp_path, states, compressed([stored]), arch="Glm4vForConditionalGeneration")
    matcher = bound("", checkpoint)
    by_engine, by_disk = matcher.decide(asked), matcher.decide(stored)
    assert [member.name for member in by_engine.members] == [member.name for member in by_disk.members] == [stored]
    # Its class does not rewrite lists, so an entry for the stored name speaks to nobody.
    assert by_engine.outcome == by_disk.outcome == "quantized"
    assert {one.code for one in run_checks(checkpoint, None).findings} >= {"QP201"}
    assert bound(f"{stored}: unquantized", checkpoint).decide(asked).outcome == "unquantized"


def test_a_class_that_rewrites_its_list_hears_an_entry_for_the_stored_name(tmp_path: Path) -> None:
    stored, asked = "visual.blocks.0.attn.qkv", "visual.blocks.0.attn.qkv_proj"
    states = {stored: "plain", "model.layers.0.mlp.down_proj": "packed"}
    checkpoint = small_checkpoint(tmp_path, states, compressed([stored]), arch="Qwen2_5_VLForConditionalGeneration")
    assert bound("", checkpoint).decide(asked).outcome == bound("", checkpoint).decide(stored).outcome == "unquantized"


def test_a_tower_that_is_built_unasked_is_known_by_its_stored_names(tmp_path: Path) -> None:
    stored = "model.visual.blocks.0.attn.qkv"
    checkpoint = small_checkpoint(tmp_path, {stored: "plain"}, compressed(), arch="Qwen3_5ForConditionalGeneration")
    matcher = bound("", checkpoint)
    assert built_unasked(matcher.binding.world, stored) is True
    assert not [one for one in run_checks(checkpoint, None).findings if one.code == "QP201"]
