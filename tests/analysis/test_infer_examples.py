"""The example checkpoints, each with the whole policy that is learned from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from inferring import assert_agrees, findings, outcomes, rules

import qpolicy
from qpolicy.analysis.inference import infer, infer_with_facts

EXAMPLES = Path(__file__).parents[2] / "examples"
NEXT = EXAMPLES / "qwen3-next-w4afp8" / "checkpoint"
QUARK = EXAMPLES / "qwen3.5-quark-mxfp4"
SOUND = [EXAMPLES / "qwen3-fp8", NEXT, *(QUARK / variant for variant in ("full", "dense-only", "lookalike"))]


def opened(folder: Path) -> qpolicy.Checkpoint:
    return qpolicy.open_checkpoint(folder)


@pytest.mark.parametrize("folder", SOUND, ids=lambda folder: folder.name)
def test_a_sound_example_is_said_in_patterns(folder: Path) -> None:
    checkpoint = opened(folder)
    learned = infer(checkpoint)
    assert_agrees(checkpoint, learned)
    assert not learned.unmet
    assert not findings(checkpoint, learned)


@pytest.mark.parametrize("folder", SOUND, ids=lambda folder: folder.name)
def test_a_sound_example_is_said_with_facts(folder: Path) -> None:
    checkpoint = opened(folder)
    learned = infer_with_facts(checkpoint)
    assert_agrees(checkpoint, learned)
    assert not learned.unmet


def test_the_forgotten_head_by_patterns() -> None:
    assert (
        infer(opened(NEXT)).text
        == """\
qpolicy 1

# Learned by `qpolicy init` from the tensors.
# Modules: 40 plain, 24 quantized.

model.layers.{0..}.mlp.experts: quantized  # 24 modules
otherwise: unquantized  # 40 modules
"""
    )


def test_the_forgotten_head_by_facts() -> None:
    assert (
        infer_with_facts(opened(NEXT)).text
        == """\
qpolicy 1

# Learned by `qpolicy init --facts`: the tensors decide where the list is wrong.

when draft and not quantized_on_disk: unquantized
otherwise: native
"""
    )


def test_the_forgotten_head_by_the_list() -> None:
    learned = infer(opened(NEXT), listed=True)
    # The list covers neither the head's experts, which SGLang then builds packed, nor mtp.fc, which SGLang never asks
    # about.
    assert rules(learned) == ["**.mlp.experts: quantized", "otherwise: unquantized"]
    assert "from the list, as sglang reads it" in learned.text


def test_a_draft_that_the_engine_leaves_plain_by_itself_is_taken_over() -> None:
    learned = infer(opened(QUARK / "lookalike"))
    assert rules(learned)[0] == "drop mtp if unquantized_on_disk(@mtp)"
    assert "drop" not in infer(opened(QUARK / "full")).text


def test_half_quantized_experts_are_said_as_they_are_and_told() -> None:
    checkpoint = opened(QUARK / "one-expert")
    learned = infer(checkpoint)
    (told,) = learned.unmet
    assert told.startswith("draft layer mtp.layers.0.mlp.experts: ")
    assert "mtp.layers.0.mlp.experts.3.down_proj unquantized" in told
    refused = [name for name, outcome, _ in outcomes(checkpoint, learned.policy) if outcome == "error"]
    assert len(refused) == 12
