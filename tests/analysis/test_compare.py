"""Comparison of policies that a person can judge, and what changes on a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import compressed, small_checkpoint

import qpolicy
from qpolicy.analysis import Comparison, compare


def parse(text: str) -> qpolicy.Policy:
    return qpolicy.parse(f"qpolicy 1\n{text}\n")


def compared(first: str, second: str) -> Comparison:
    return compare(parse(first), parse(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a.b, a.c: native", "a.{c,b}: native"),
        ("a: unquantized\nb: quantized", "b: quantized\na: unquantized"),
        ("when draft: unquantized", "when not target: unquantized"),
        ("a when has(v, w): unquantized", "a when has(w) and has(v): unquantized"),
        ("a: native", ""),
        ("otherwise: native", ""),
        ("a: unquantized\nb: unquantized", "let s = a, b\n@s: unquantized"),
        ("a when not (draft and has(w)): unquantized", "a when target or not has(w): unquantized"),
        ('a: error "x"', 'a: error "y"'),
        ("**.experts: unquantized", "**.experts, **.experts.{0..}: unquantized"),
        ("drop mtp if draft", "drop @mtp if not target"),
        ("a when engine == x and engine == y: quantized\nb: native", "b: native"),
    ],
)
def test_equivalent(first: str, second: str) -> None:
    assert compared(first, second).equivalent is True
    assert compared(second, first).equivalent is True


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        ("a.b: unquantized", "a.b: quantized", "a.b"),
        ("a.b: quantized as x", "a.b: quantized", "a.b"),
        ("a.b: unquantized\na.**: quantized", "a.**: quantized\na.b: unquantized", "a.b"),
        ("a when has(w): unquantized", "a: unquantized", "a (not has(w))"),
        ("b when draft: unquantized", "", "b (draft)"),
        ("otherwise: unquantized", "**: unquantized", "a (kind is embedding)"),
        ("drop mtp if draft", "@mtp when draft: unquantized", "a (draft)"),
        (
            "**.qkv_proj: unquantized\n**.q_proj: quantized",
            "**.q_proj: quantized\n**.qkv_proj: unquantized",
            "q_proj (part of qkv_proj)",
        ),
    ],
)
def test_different(first: str, second: str, where: str) -> None:
    for one, other in ((first, second), (second, first)):
        comparison = compared(one, other)
        assert comparison.equivalent is False
        assert comparison.difference is not None
        assert comparison.difference.where.text == where


def test_a_drop_statement_changes_what_native_means_in_a_draft() -> None:
    comparison = compared("", "let s = x.y\ndrop @s if draft and target")
    assert comparison.difference is not None
    assert comparison.difference.where.facts == ("draft",)
    assert comparison.difference.first is comparison.difference.second is None


def test_who_decides_is_named() -> None:
    difference = compared("a: unquantized\nb: unquantized", "a: unquantized\nb: quantized").difference
    assert difference is not None
    assert difference.first is not None
    assert difference.second is not None
    assert (difference.where.name, difference.first.line, difference.second.line) == ("b", 3, 3)


def test_changes_on_a_checkpoint(tmp_path: Path) -> None:
    layers = {"model.layers.0.mlp.gate": "plain", "model.layers.0.mlp.down_proj": "packed", "mtp.fc": "plain"}
    checkpoint = small_checkpoint(tmp_path, layers, compressed(["model.layers.0.mlp.gate"]))
    comparison = compare(parse("when draft: unquantized"), parse("otherwise: quantized"), checkpoint)
    assert [(one.name, one.draft, one.before.outcome, one.after.outcome) for one in comparison.changes] == [
        ("model.layers.0.mlp.gate", False, "unquantized", "quantized"),
        ("fc", True, "unquantized", "quantized"),
    ]


def test_different_policies_may_change_nothing_on_a_checkpoint(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, {"a.down_proj": "packed"}, compressed([]))
    comparison = compare(parse("b: unquantized"), parse(""), checkpoint)
    assert (comparison.equivalent, comparison.changes) == (False, ())
