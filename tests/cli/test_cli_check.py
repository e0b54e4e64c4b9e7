"""``qpolicy check``: findings, exit codes and documents."""

from pathlib import Path

import pytest
from commandline import LAYERS, empty, faulty, healthy, policy, run, with_draft
from small import compressed, small_checkpoint


def test_healthy_checkpoint_is_clean(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    ran = run("check", folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"clean: {folder}, 4 layers agree with their tensors\n"


def test_faulty_checkpoint_names_the_module_and_the_fix(tmp_path: Path) -> None:
    ran = run("check", faulty(tmp_path))
    assert (ran.code, ran.err) == (1, "")
    assert "error QP201 " in ran.out
    assert "1 module: model.layers.1.mlp.down_proj\n" in ran.out
    assert "  fix:\n      model.layers.1.mlp.down_proj: unquantized\n" in ran.out
    assert ran.out.endswith("4 layers checked\n")


def test_policy_beside_the_checkpoint_is_used(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    policy(folder / "model.qpolicy", "model.layers.1.mlp.down_proj: unquantized")
    assert run("check", folder).code == 0


def test_named_policy_beats_the_one_beside(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    policy(folder / "model.qpolicy", "model.layers.1.mlp.down_proj: unquantized")
    assert run("check", folder, "--policy", policy(tmp_path / "other.qpolicy", "otherwise: native")).code == 1


def test_json_findings(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    ran = run("check", folder, "--format", "json")
    assert ran.code == 1
    assert set(ran.json) == {"version", "findings"}
    [finding] = ran.json["findings"]
    assert finding["fix"] == "model.layers.1.mlp.down_proj: unquantized"
    assert (finding["code"], finding["severity"]) == ("QP201", "error")
    assert finding["modules"] == ["model.layers.1.mlp.down_proj"]
    assert finding["file"].startswith(str(folder))


def test_json_of_a_clean_checkpoint(tmp_path: Path) -> None:
    ran = run("check", healthy(tmp_path), "--format", "json")
    assert (ran.code, ran.json) == (0, {"version": 1, "findings": []})


def test_concise_findings_are_one_line_each(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    ran = run("check", folder, "--format", "concise")
    [line] = ran.out.splitlines()
    assert line.startswith(str(folder))
    assert ": QP201 error " in line


def test_nothing_to_check(tmp_path: Path) -> None:
    ran = run("check", empty(tmp_path))
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(str(tmp_path / "empty"))


def test_config_without_tensors_is_nothing_to_check(tmp_path: Path) -> None:
    small_checkpoint(tmp_path / "bare", {}, compressed())
    (tmp_path / "bare" / "model.safetensors").unlink()
    ran = run("check", tmp_path / "bare")
    assert (ran.code, ran.out) == (3, "")
    assert "nothing to check" in ran.err


def test_broken_checkpoint_does_not_hide_the_others(tmp_path: Path) -> None:
    ran = run("check", tmp_path / "nowhere", faulty(tmp_path), healthy(tmp_path))
    assert ran.code == 2
    assert "nowhere" in ran.err
    assert "QP201" in ran.out
    assert "clean: " in ran.out


@pytest.mark.parametrize(
    ("makers", "code"), [((healthy, empty), 3), ((healthy, faulty), 1), ((faulty, empty), 1), ((healthy,), 0)]
)
def test_exit_code_of_several(tmp_path: Path, makers: tuple, code: int) -> None:
    assert run("check", *(make(tmp_path) for make in makers)).code == code


def test_standalone_draft_is_checked_with_its_own_policy(tmp_path: Path) -> None:
    target, draft = healthy(tmp_path), faulty(tmp_path)
    ran = run("check", target, "--draft-checkpoint", draft)
    assert ran.code == 1
    assert "model.layers.1.mlp.down_proj" in ran.out
    policy(draft / "draft.qpolicy", "model.layers.1.mlp.down_proj: unquantized")
    assert run("check", target, "--draft-checkpoint", draft).code == 0


def test_forgotten_draft_and_its_fix(tmp_path: Path) -> None:
    folder = with_draft(tmp_path)
    ran = run("check", folder)
    assert ran.code == 1
    assert "mtp.layers.0.mlp.gate_proj" in ran.out
    fixed = run(
        "check", folder, "--policy", policy(tmp_path / "fix", "when draft and not has(weight_packed): unquantized")
    )
    assert (fixed.code, fixed.err) == (0, "")


def test_strict_makes_an_unknown_condition_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "names-only"
    small_checkpoint(folder, LAYERS, compressed(["lm_head"]))
    unknown = policy(tmp_path / "unknown.qpolicy", "lm_head when quantized_on_disk(nowhere.**): quantized")
    severities = {
        strict: {
            one["severity"]
            for one in run("check", folder, "--policy", unknown, "--format", "json", *strict).json["findings"]
        }
        for strict in ((), ("--strict",))
    }
    assert "error" not in severities[()]
    assert "error" in severities["--strict",]
