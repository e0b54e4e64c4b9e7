"""Shared experts that an engine builds into the experts container."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, small_checkpoint

FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic"}
LAYER = "model.layers.0.mlp"
ROUTED = f"{LAYER}.experts.0.down_proj"
SPELLINGS = ("shared_expert", "shared_experts")


def states(shared: str, spelling: str = "shared_experts") -> dict[str, str]:
    names = (f"{LAYER}.{spelling}.down_proj", f"{LAYER}.{spelling}.up_proj")
    return {ROUTED: "fp8", **dict.fromkeys(names, shared), f"{LAYER}.shared_expert_gate": "plain"}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_they_are_members_only_where_the_engine_builds_them_in(tmp_path: Path, spelling: str) -> None:
    matcher = bound("", small_checkpoint(tmp_path, states("fp8", spelling), FP8))
    apart, together = (matcher.decide(f"{LAYER}.experts", shared=shared) for shared in (False, True))
    assert [member.name for member in apart.members] == [ROUTED]
    assert [member.name for member in together.members] == [
        ROUTED,
        f"{LAYER}.{spelling}.down_proj",
        f"{LAYER}.{spelling}.up_proj",
    ]
    assert (apart.outcome, together.outcome) == ("quantized", "quantized")


def test_a_rule_for_the_container_catches_them(tmp_path: Path) -> None:
    matcher = bound("**.mlp.experts: unquantized\notherwise: quantized", small_checkpoint(tmp_path, states("fp8"), FP8))
    assert matcher.decide(f"{LAYER}.experts", shared=True).outcome == "unquantized"
    assert matcher.decide(f"{LAYER}.shared_experts.down_proj").outcome == "quantized"


def test_a_rule_for_them_alone_is_a_disagreement(tmp_path: Path) -> None:
    matcher = bound("**.shared_experts.**: unquantized", small_checkpoint(tmp_path, states("plain"), FP8))
    decision = matcher.decide(f"{LAYER}.experts", shared=True)
    assert (decision.outcome, decision.problem) == ("error", "disagree")
    assert matcher.decide(f"{LAYER}.experts").outcome == "quantized"


def test_a_list_that_excludes_them_alone_excludes_half_of_the_layer(tmp_path: Path) -> None:
    listed = FP8 | {"modules_to_not_convert": [f"{LAYER}.shared_experts"]}
    decision = bound("", small_checkpoint(tmp_path, states("plain"), listed)).decide(f"{LAYER}.experts", shared=True)
    assert (decision.outcome, decision.problem) == ("error", "half-excluded")


def test_of_a_draft_they_stand_beside_the_stored_container(tmp_path: Path) -> None:
    draft = {name.replace("model.layers", "mtp.layers"): state for name, state in states("plain").items()}
    checkpoint = small_checkpoint(tmp_path, draft, FP8)
    matcher = bound("when not quantized_on_disk: unquantized", checkpoint, draft=True)
    decision = matcher.decide(f"{LAYER}.experts", shared=True)
    assert decision.problem == "disagree"
    assert "mtp.layers.0.mlp.shared_experts.down_proj" in decision.reason
