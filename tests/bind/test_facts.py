"""What the facts of a condition come to."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, compressed, small_checkpoint

import qpolicy

E = "model.layers.0.mlp.experts"
STATES = {
    "model.layers.0.mlp.gate": "plain",
    f"{E}.0.up_proj": "packed",
    f"{E}.0.down_proj": "packed",
    f"{E}.1.up_proj": "packed",
    f"{E}.1.down_proj": "packed",
    "mtp.layers.0.mlp.up_proj": "plain",
    "lm_head": "plain",
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> qpolicy.Checkpoint:
    return small_checkpoint(tmp_path, STATES, compressed(["lm_head", f"{E}.0.up_proj"]))


def holds(checkpoint: qpolicy.Checkpoint | None, condition: str, name: str, **asker: bool) -> bool:
    decision = bound(f"when {condition}: unquantized\n**: quantized", checkpoint, **asker).decide(name)
    return decision.members[0].action == "unquantized"


TRUE_FOR_THE_GATE = [
    "target",
    "not draft",
    "has(weight)",
    "not has(weight, weight_scale)",
    "not quantized_on_disk",
    "dtype(weight) == bf16",
    "dtype(weight) in (f16, bf16)",
    "not dtype(weight_scale) == bf16",
    "not excluded",
    "kind == linear",
    "kind in (moe, linear)",
    "method == compressed-tensors",
    "format == pack-quantized",
    'arch == "Qwen3NextForCausalLM"',
    "engine == sglang",
    "path in **.gate",
    "path in (**.nothing, **.mlp.*)",
    f"quantized_on_disk({E})",
    "unquantized_on_disk(@mtp)",
    "exists(mtp.**)",
    "not exists(model.layers.7.**)",
    "excluded(lm_head)",
    f"not excluded({E})",
    f"excluded({E}.0.up_proj)",
]


@pytest.mark.parametrize("condition", TRUE_FOR_THE_GATE)
def test_true_facts(checkpoint: qpolicy.Checkpoint, condition: str) -> None:
    assert holds(checkpoint, condition, "model.layers.0.mlp.gate")
    assert not holds(checkpoint, f"not ({condition})", "model.layers.0.mlp.gate")


@pytest.mark.parametrize("fact", ["excluded(model.layers.7.**)", "quantized_on_disk(nowhere.at_all)"])
def test_a_fact_about_nothing_is_neither_true_nor_false(checkpoint: qpolicy.Checkpoint, fact: str) -> None:
    assert not holds(checkpoint, fact, "model.layers.0.mlp.gate")
    assert not holds(checkpoint, f"not {fact}", "model.layers.0.mlp.gate")


@pytest.mark.parametrize("fact", ["has(weight)", "excluded", "exists(lm_head)", "method == fp8"])
def test_without_a_checkpoint_its_facts_are_unknown(fact: str) -> None:
    assert not holds(None, fact, "model.layers.0.mlp.gate")
    assert not holds(None, f"not {fact}", "model.layers.0.mlp.gate")


def test_an_unknown_part_need_not_make_the_whole_unknown(checkpoint: qpolicy.Checkpoint) -> None:
    assert holds(checkpoint, "target or excluded(nowhere.at_all)", "model.layers.0.mlp.gate")
    assert not holds(checkpoint, "draft and excluded(nowhere.at_all)", "model.layers.0.mlp.gate")


def test_the_draft_knows_that_it_is_one(checkpoint: qpolicy.Checkpoint) -> None:
    assert holds(checkpoint, "draft", "mtp.layers.0.mlp.up_proj", draft=True)
    assert not holds(checkpoint, "draft", "mtp.layers.0.mlp.up_proj", draft=False)
