"""``qpolicy coverage``: how much of a checkpoint a policy decides."""

from pathlib import Path

import pytest
from commandline import empty, healthy, policy, run


def test_rules_and_modules(tmp_path: Path) -> None:
    checkpoint = healthy(tmp_path)
    file = policy(checkpoint / "p.qpolicy", "lm_head: unquantized\n**.mlp.down_proj: quantized\nx.y: native")
    ran = run("coverage", checkpoint)
    assert (ran.code, ran.err) == (0, "")
    [unused, left, more, total] = ran.out.splitlines()
    assert unused == f"never used: {file}:5:1: x.y: native"
    assert left.startswith("no rule decides 3 modules: model.layers.0.self_attn.")
    assert more == "    model.layers.0.self_attn.v_proj"
    assert total == "50.0% covered: rules decide 3 of 6 modules; 2 of 3 rules used"


@pytest.mark.parametrize(("threshold", "code"), [("0", 0), ("50", 0), ("50.1", 1), ("100", 1)])
def test_threshold(tmp_path: Path, threshold: str, code: int) -> None:
    file = policy(tmp_path / "p.qpolicy", "lm_head: unquantized\n**.mlp.down_proj: quantized")
    ran = run("coverage", healthy(tmp_path), "--policy", file, "--fail-under", threshold)
    assert ran.code == code


@pytest.mark.parametrize("threshold", ["-1", "101", "x"])
def test_threshold_is_a_percentage(tmp_path: Path, threshold: str) -> None:
    ran = run("coverage", healthy(tmp_path), "--fail-under", threshold)
    assert ran.code == 2
    assert "--fail-under" in ran.err


def test_json(tmp_path: Path) -> None:
    file = policy(tmp_path / "p.qpolicy", "otherwise: native\n")
    found = run("coverage", healthy(tmp_path), "--policy", file, "--format", "json").json
    assert (found["version"], found["percent"], found["modules"], found["decided"]) == (1, 100.0, 6, 6)
    assert found["undecided"] == []
    assert [(rule["line"], rule["modules"]) for rule in found["rules"]] == [(3, 6)]


def test_without_a_policy(tmp_path: Path) -> None:
    ran = run("coverage", healthy(tmp_path))
    assert ran.code == 2
    assert "name one with --policy" in ran.err


def test_nothing_to_cover(tmp_path: Path) -> None:
    file = policy(tmp_path / "p.qpolicy", "a: native")
    assert run("coverage", empty(tmp_path), "--policy", file).code == 3
