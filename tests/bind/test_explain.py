"""Explanations: each clause's truth, the deciding line, and the nearest miss."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, compressed, small_checkpoint

import qpolicy

STATES = {
    "model.layers.0.mlp.gate_proj": "packed",
    "model.layers.0.mlp.experts.0.up_proj": "packed",
    "model.layers.0.mlp.experts.1.up_proj": "packed",
    "mtp.fc": "plain",
}
POLICY = """
drop mtp if excluded(mtp.fc)
**.mlp.gate: unquantized
when target and not has(weight_packed): unquantized
when draft or quantized_on_disk: native
"""


@pytest.fixture
def checkpoint(tmp_path: Path) -> qpolicy.Checkpoint:
    return small_checkpoint(tmp_path, STATES, compressed())


def told(checkpoint: qpolicy.Checkpoint, name: str, policy: str = POLICY) -> list[str]:
    return [line.strip() for line in bound(policy, checkpoint).decide(name).explain().splitlines()]


def test_it_says_what_was_decided_and_where(checkpoint: qpolicy.Checkpoint) -> None:
    lines = told(checkpoint, "model.layers.0.mlp.gate_proj")
    assert lines[0] == "model.layers.0.mlp.gate_proj (linear): quantized (native), by test.qpolicy:6:1"


def test_it_gives_every_clause_of_every_rule_that_was_tried(checkpoint: qpolicy.Checkpoint) -> None:
    lines = told(checkpoint, "model.layers.0.mlp.gate_proj")
    tried = "test.qpolicy:5:1: when target and not has(weight_packed): unquantized"
    assert f"{tried}  -> does not apply, its condition is false" in lines
    for clause in ("target is true", "has(weight_packed) is true", "draft is false", "quantized_on_disk is true"):
        assert clause in lines
    assert "excluded(mtp.fc) is false" in lines


def test_members_that_went_the_same_way_are_told_once(checkpoint: qpolicy.Checkpoint) -> None:
    lines = told(checkpoint, "model.layers.0.mlp.experts")
    assert any("model.layers.0.mlp.experts.0.up_proj and 1 more like it" in line for line in lines)


def test_when_no_rule_decides_it_shows_the_nearest_miss(checkpoint: qpolicy.Checkpoint) -> None:
    lines = told(checkpoint, "model.layers.0.mlp.gate_proj", "\n**.mlp.gate: unquantized\n")
    assert "no rule decides; the checkpoint's own list is asked (native)" in lines
    (miss,) = [line for line in lines if line.startswith("nearest miss")]
    assert miss.startswith("nearest miss: test.qpolicy:3:1: **.mlp.gate: ")
    assert "`gate`" in miss
    assert "`gate_proj`" in miss


def test_an_unknown_condition_says_so(checkpoint: qpolicy.Checkpoint) -> None:
    lines = told(checkpoint, "model.layers.0.mlp.nothing")
    assert "has(weight_packed) is unknown" in lines
    assert any("no tensors on disk" in line for line in lines)
