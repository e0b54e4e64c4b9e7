"""What the table of architectures says without an engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import compressed, small_checkpoint

from qpolicy.bind.architectures import architecture, fold, known_architectures
from qpolicy.bind.names_table import draft_rows
from qpolicy.bind.unasked import built_unasked
from qpolicy.bind.world import World

STATES = {
    "model.layers.0.mlp.gate": "plain",
    "model.layers.0.mlp.experts.0.up_proj": "plain",
    "model.layers.0.self_attn.q_proj": "plain",
    "model.layers.0.self_attn.k_proj": "plain",
    "mtp.fc": "plain",
    "mtp.layers.0.mlp.gate": "plain",
    "mtp.layers.0.self_attn.q_proj": "plain",
}


def test_the_table_has_sixty_architectures_and_every_draft_class() -> None:
    assert len(known_architectures()) >= 60
    for row in draft_rows():
        assert architecture(row.engine, row.architectures, row.draft_class) is not None, row.draft_class


@pytest.mark.parametrize(
    ("draft", "stored", "unasked"),
    [
        (False, "model.layers.0.mlp.gate", True),
        (False, "model.layers.0.mlp.experts.0.up_proj", False),
        (False, "model.layers.0.self_attn.q_proj", False),
        (True, "mtp.fc", True),
        (True, "mtp.layers.0.mlp.gate", True),
        (True, "mtp.layers.0.self_attn.q_proj", False),
    ],
)
def test_what_qwen3_next_asks(tmp_path: Path, draft: bool, stored: str, unasked: bool) -> None:
    checkpoint = small_checkpoint(tmp_path, STATES, compressed())
    assert built_unasked(World(checkpoint, "sglang", draft), stored) is unasked


def test_another_root_on_disk_is_the_same_layer(tmp_path: Path) -> None:
    states = {"model.language_model.layers.0.mlp.gate": "plain"}
    checkpoint = small_checkpoint(tmp_path, states, compressed())
    assert built_unasked(World(checkpoint, "sglang", False), "model.language_model.layers.0.mlp.gate") is True


def test_an_unknown_architecture_leaves_routers_open(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, STATES, compressed(), arch="OtherForCausalLM")
    world = World(checkpoint, "sglang", False)
    assert built_unasked(world, "model.layers.0.mlp.gate") is None
    assert built_unasked(world, "model.layers.0.self_attn.q_proj") is False


def test_lists_are_read_with_what_the_class_declares(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, STATES, compressed())
    world = World.known(checkpoint, "sglang", draft=False, strict=False)
    assert world.declared is not None
    assert set(world.declared) == {"qkv_proj", "gate_up_proj"}
    assert "in_proj_ba" in world.packed


@pytest.mark.parametrize(
    ("name", "folded"),
    [("model.layers.10.mlp.experts.3.w1", "model.layers.{N}.mlp.experts.{N}.w1"), ("h.0", "h.{N}"), ("fc1.x", "fc1.x")],
)
def test_numbers_are_folded(name: str, folded: str) -> None:
    assert fold(name) == folded
