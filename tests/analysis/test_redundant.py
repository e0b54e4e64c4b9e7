"""Patterns that add nothing, and sets that nothing uses."""

from __future__ import annotations

import pytest

import qpolicy
from qpolicy.analysis import Limits, analyse
from qpolicy.analysis.translate import written


def found(*lines: str) -> list[tuple[str, str, bool]]:
    policy = qpolicy.parse("\n".join(["qpolicy 1", *lines]) + "\n")
    return [(written(one.inner), written(one.outer), one.same) for one in analyse(policy).repeats.found]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("a.b, a.c", []),
        ("a.b, a.b", [("a.b", "a.b", True)]),
        ("a.{b,c}, d, a.{c,b}", [("a.{c,b}", "a.{b,c}", True)]),
        ("a.{0..2}, a.1", [("a.1", "a.{0..2}", False)]),
        ("a.1, a.{0..2}", [("a.1", "a.{0..2}", False)]),
        ("a.b, **.b, a.**", [("a.b", "**.b", False)]),
        ("a.*, a.**", [("a.*", "a.**", False)]),
        ("?.b, *.b", [("?.b", "*.b", False)]),
        ("mtp.fc, @mtp", [("mtp.fc", "@mtp", False)]),
        ("@mtp, model.layers.{0..}.**", []),
        ("@mtp.fc, @mtp", [("@mtp.fc", "@mtp", False)]),
        ("a.b, a.b, a.b", [("a.b", "a.b", True), ("a.b", "a.b", True)]),
    ],
)
def test_lists_of_rules(listed: str, expected: list[tuple[str, str, bool]]) -> None:
    assert found(f"{listed}: native") == expected
    assert found(f"z when path in ({listed}): native") == expected


def test_lists_of_sets() -> None:
    assert found("let s = a.b, a.**", "let t = @s, a.c", "@t: native") == [("a.b", "a.**", False), ("a.c", "@s", False)]


def test_rules_are_not_compared_with_each_other() -> None:
    assert found("a.b: native", "a.b: unquantized") == []


def test_spent_budget_is_said() -> None:
    policy = qpolicy.parse(f"qpolicy 1\n{', '.join(f'**.a{n}.**.b.**' for n in range(9))}: native\n")
    repeats = analyse(policy, Limits(names_work=100)).repeats
    assert [statement.span.line for statement in repeats.unsure] == [2]
    assert repeats.budget == "100 steps"


def unused(*lines: str) -> list[str]:
    return [let.name for let in analyse(qpolicy.parse("\n".join(["qpolicy 1", *lines]) + "\n")).unused]


def test_unused_sets() -> None:
    assert unused("let s = a", "@s: native") == []
    assert unused("let s = a", "b: native") == ["s"]
    assert unused("let s = a", "let t = @s", "b: native") == ["s", "t"]
    assert unused("let s = a", "let t = @s", "@t: native") == []
    assert unused("let s = a", "b when path in @s: native") == []
    assert unused("let s = a", "drop @s if draft") == []
    assert unused("let s = a", "drop mtp if excluded(@s)") == []
    assert unused("let s = a", "expect @s: quantized") == []
