"""Hostile policies end undecided, soon, and what was decided before stays decided."""

from __future__ import annotations

from itertools import combinations

import pytest

import qpolicy
from qpolicy.analysis import Limits, analyse, compare

FAR = [f"**.a{n}.**.b{n}.**: native" for n in range(10)]
GLOBS = [f"**.*{a}*{b}*.**: native" for a in "abcdef" for b in "abcdef"]


def pigeons(holes: int) -> str:
    """A condition that no assignment fulfils, which searches find out only by trying most of them."""
    somewhere = [f"({' or '.join(f'has(p{p}_{h})' for h in range(holes))})" for p in range(holes + 1)]
    apart = [
        f"not (has(p{one}_{h}) and has(p{two}_{h}))"
        for h in range(holes)
        for one, two in combinations(range(holes + 1), 2)
    ]
    return " and ".join([*somewhere, *apart])


def parse(lines: list[str]) -> qpolicy.Policy:
    return qpolicy.parse("\n".join(["qpolicy 1", *lines]) + "\n")


@pytest.mark.parametrize("lines", [FAR, GLOBS, [f"when {pigeons(7)} and has(x{n}): native" for n in range(20)]])
def test_hostile_policies_are_undecided_once_the_budget_is_spent(lines: list[str]) -> None:
    assert {proof.verdict for proof in analyse(parse(lines)).proofs} == {"undecided"}


def test_one_hard_rule_leaves_the_others_decided() -> None:
    proofs = analyse(parse(["a: native", "a: unquantized", f"b when {pigeons(7)}: native"])).proofs
    assert [proof.verdict for proof in proofs] == ["live", "dead", "undecided"]
    assert "steps" in proofs[2].budget


def test_limits_are_the_callers() -> None:
    policy = parse(["**.a.**: native", "**.b.**: native"])
    assert {proof.verdict for proof in analyse(policy, Limits(states=2)).proofs} == {"undecided"}
    assert {proof.verdict for proof in analyse(policy, Limits(states=100)).proofs} == {"live"}


def test_comparison_may_be_undecided() -> None:
    comparison = compare(parse(FAR), parse(FAR[::-1]), limits=Limits(states=500))
    assert comparison.equivalent is None
    assert comparison.difference is None
    assert comparison.budget


def test_a_policy_is_equivalent_to_itself_however_hostile() -> None:
    assert compare(parse(FAR), parse(FAR)).equivalent is True


def test_long_policies_are_decided() -> None:
    lines = [f"model.layers.{n}.mlp.gate: native" for n in range(1000)]
    assert {proof.verdict for proof in analyse(parse(lines)).proofs} == {"live"}
    listed = ", ".join(f"**.x{n}.**" for n in range(60))
    assert [proof.verdict for proof in analyse(parse([f"{listed}: native", "a.x7.b: native"])).proofs] == [
        "live",
        "dead",
    ]
