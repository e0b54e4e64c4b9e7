"""How much of a checkpoint a policy decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import compressed, small_checkpoint

import qpolicy
from qpolicy.analysis import Coverage, coverage

LAYERS = {
    "model.layers.0.mlp.gate": "plain",
    "model.layers.0.mlp.down_proj": "packed",
    "model.layers.0.norm": "norm",
    "model.embed_tokens": "plain",
    "mtp.fc": "plain",
    "lm_head": "plain",
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> qpolicy.Checkpoint:
    return small_checkpoint(tmp_path, LAYERS, compressed(["lm_head"]))


def covered(checkpoint: qpolicy.Checkpoint, *lines: str) -> Coverage:
    return coverage(qpolicy.parse("\n".join(["qpolicy 1", *lines]) + "\n"), checkpoint)


def test_modules_that_no_rule_decides(checkpoint: qpolicy.Checkpoint) -> None:
    found = covered(checkpoint, "**.mlp.gate: unquantized", "lm_head: unquantized")
    assert found.undecided == ("model.layers.0.mlp.down_proj", "mtp.fc")
    assert (found.modules, found.percent) == (4, 50.0)


def test_rules_that_are_never_used(checkpoint: qpolicy.Checkpoint) -> None:
    found = covered(checkpoint, "drop mtp if exists(x.y)", "**.gate: unquantized", "a.b: native", "**.mlp.gate: native")
    assert [rule.line for rule in found.unused] == [2, 4, 5]
    assert [one.modules for one in found.used] == [0, 1, 0, 0]


def test_otherwise_decides_all_that_is_left(checkpoint: qpolicy.Checkpoint) -> None:
    found = covered(checkpoint, "otherwise: native")
    assert (found.percent, found.undecided) == (100.0, ())


def test_a_drop_decides_the_draft(checkpoint: qpolicy.Checkpoint) -> None:
    found = covered(checkpoint, "drop mtp if draft")
    assert "mtp.fc" not in found.undecided
    assert not found.unused


def test_a_rule_for_embeddings_is_used(checkpoint: qpolicy.Checkpoint) -> None:
    assert not covered(checkpoint, "**.embed_tokens: unquantized").unused


def test_nothing_is_covered_whole(tmp_path: Path) -> None:
    found = covered(small_checkpoint(tmp_path, {"a.norm": "norm"}), "a: native")
    assert (found.modules, found.percent) == (0, 100.0)
