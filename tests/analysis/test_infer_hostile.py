"""Names that no publisher would write: the answer is right or a plain refusal, in bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import at_most
from inferring import assert_agrees, rules
from small import fp8, small_checkpoint

import qpolicy
from qpolicy.analysis.inference import infer, infer_with_facts

ODD = ["a b", "a*b", "{x}", "**", "?", 'a"b', "#c", "é", "not", "mtp", "007", "1" * 30, "a:b", "x,y", "@mtp", "`"]


@pytest.mark.parametrize("segment", ODD)
def test_odd_segments(tmp_path: Path, segment: str) -> None:
    states = {f"model.{segment}.down_proj": "plain", "model.mlp.down_proj": "fp8", "lm_head": "plain"}
    checkpoint = small_checkpoint(tmp_path, states, fp8())
    assert_agrees(checkpoint, infer_with_facts(checkpoint))
    try:
        learned = infer(checkpoint)
    except qpolicy.QPolicyError as error:
        assert "no pattern tells" in str(error)
        assert segment == 'a"b'
    else:
        assert_agrees(checkpoint, learned)


@pytest.mark.parametrize("name", ["mtp", "in", "otherwise", "a b"])
def test_an_odd_name_of_one_segment_is_quoted(tmp_path: Path, name: str) -> None:
    states = {name: "plain", **{f"model.{one}.{two}": "fp8" for one in "ab" for two in "cd"}}
    learned = infer(small_checkpoint(tmp_path, states, fp8()))
    assert_agrees(small_checkpoint(tmp_path, states, fp8()), learned)
    assert rules(learned)[-1] == "otherwise: quantized"


def test_names_too_long_for_a_pattern(tmp_path: Path) -> None:
    deep = ".".join(["x"] * 100)
    states = {f"model.{deep}.a": "plain", "model.y.a": "fp8", "lm_head": "plain"}
    checkpoint = small_checkpoint(tmp_path / "a", states, fp8())
    assert_agrees(checkpoint, infer(checkpoint))
    checkpoint = small_checkpoint(tmp_path / "b", {**states, f"model.{deep}.b": "fp8"}, fp8())
    with pytest.raises(qpolicy.QPolicyError, match=r"no pattern tells model\.x\."):
        infer(checkpoint)


def test_thousands_of_names_without_any_order_are_refused(tmp_path: Path) -> None:
    states = {f"m{number}x.n{number}y": "plain" if number % 3 else "fp8" for number in range(6_000)}
    checkpoint = small_checkpoint(tmp_path, states, fp8())
    with pytest.raises(qpolicy.QPolicyError, match="more than 1,000 patterns"), at_most(calls=40_000_000):
        infer(checkpoint)


def test_a_thousand_layers_that_alternate(tmp_path: Path) -> None:
    states = {f"model.layers.{number}.mlp.down_proj": "plain" if number % 2 else "fp8" for number in range(1_000)}
    checkpoint = small_checkpoint(tmp_path, states, fp8())
    learned = infer(checkpoint)
    assert_agrees(checkpoint, learned)
    assert len(rules(learned)) < 20
