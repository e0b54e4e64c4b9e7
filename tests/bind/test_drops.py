"""Drops: what they ask, what they leave unquantized, and what they replace."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, compressed, small_checkpoint

import qpolicy

EXPERTS = [f"mtp.layers.0.mlp.experts.{e}.{leaf}_proj" for e in range(2) for leaf in ("gate", "up", "down")]
TARGET = {"model.layers.0.mlp.up_proj": "packed", "lm_head": "plain"}
DRAFT = {"mtp.fc": "plain", "mtp.layers.0.mlp.gate": "plain", **dict.fromkeys(EXPERTS, "plain")}


def checkpoint(folder: Path, ignore: list[str], **states: str) -> qpolicy.Checkpoint:
    return small_checkpoint(folder, {**TARGET, **DRAFT, **states}, compressed(ignore))


DROP = "drop mtp if excluded(mtp.*.mlp.experts)"


@pytest.mark.parametrize(
    ("ignore", "drops"),
    [
        (EXPERTS, True),
        (["re:mtp.*"], True),
        (EXPERTS[:1], False),
        (["mtp.layers.0.mlp.experts_something"], False),
        (["mtp.fc", "mtp.layers.0.mlp.gate"], False),
    ],
)
def test_a_drop_fires_only_if_every_expert_is_excluded(tmp_path: Path, ignore: list[str], drops: bool) -> None:
    matcher = bound(DROP, checkpoint(tmp_path, ignore), draft=True)
    assert matcher.drops is drops
    assert (matcher.decide("mtp.fc").rule is not None) is drops


def test_a_drop_comes_before_every_rule_and_covers_all_of_the_draft(tmp_path: Path) -> None:
    matcher = bound(f"{DROP}\n**: quantized", checkpoint(tmp_path, EXPERTS), draft=True)
    for name, kind in (("mtp.fc", "linear"), ("lm_head", "lm_head"), ("model.layers.0.self_attn.attn", "attention")):
        decision = matcher.decide(name, kind=kind)
        assert (decision.outcome, decision.rule.line) == ("unquantized", 2)


def test_the_target_is_not_dropped(tmp_path: Path) -> None:
    matcher = bound(DROP, checkpoint(tmp_path, EXPERTS))
    assert matcher.drops is False
    assert matcher.decide("model.layers.0.mlp.up_proj").action == "native"


def test_an_unknown_drop_does_not_drop(tmp_path: Path) -> None:
    matcher = bound("drop mtp if excluded(mtp.nothing.like_this)", checkpoint(tmp_path, EXPERTS), draft=True)
    assert matcher.drops is False
    assert matcher.binding.drops[0].truth is None


def test_a_quantized_head_keeps_its_config(tmp_path: Path) -> None:
    matcher = bound(DROP, checkpoint(tmp_path, EXPERTS, lm_head="packed"), draft=True)
    assert matcher.drops is False
    assert matcher.decide("lm_head").action == "native"
    assert matcher.decide("mtp.fc").outcome == "unquantized"


def test_a_set_can_be_dropped(tmp_path: Path) -> None:
    text = "let experts = @mtp.experts\ndrop @experts if unquantized_on_disk(@experts)"
    matcher = bound(text, checkpoint(tmp_path, []), draft=True)
    assert matcher.drops is False
    assert matcher.decide("mtp.layers.0.mlp.experts").outcome == "unquantized"
    assert matcher.decide("mtp.fc").action == "native"
