"""Which policy a command takes."""

from pathlib import Path

import pytest
from commandline import faulty, healthy, policy, run

from qpolicy.bind.files import builtin_policies

COMMANDS = [
    ("check", ()),
    ("decide", ("lm_head",)),
    ("explain", ("lm_head",)),
    ("table", ()),
    ("test", ()),
]


@pytest.mark.parametrize(("command", "more"), COMMANDS)
def test_two_policies_beside_a_checkpoint_are_an_error(tmp_path: Path, command: str, more: tuple[str, ...]) -> None:
    folder = healthy(tmp_path)
    policy(folder / "a.qpolicy", "otherwise: native")
    policy(folder / "b.qpolicy", "otherwise: native")
    ran = run(command, folder, *more)
    assert (ran.code, ran.out) == (2, "")
    assert "a.qpolicy, b.qpolicy" in ran.err
    assert "--policy" in ran.err


@pytest.mark.parametrize(("command", "more"), COMMANDS)
def test_unreadable_policy_is_broken_input(tmp_path: Path, command: str, more: tuple[str, ...]) -> None:
    broken = policy(tmp_path / "broken.qpolicy", "lm_head: unquantised")
    ran = run(command, healthy(tmp_path), *more, "--policy", broken)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"{broken}:3:10: QP005 ")


def test_builtin_policy(tmp_path: Path) -> None:
    assert run("check", faulty(tmp_path), "--policy", "builtin:trust-tensors").code == 0


def test_misspelt_builtin_policy(tmp_path: Path) -> None:
    ran = run("check", faulty(tmp_path), "--policy", "builtin:trust-tensor")
    assert ran.code == 2
    assert "did you mean 'builtin:trust-tensors'?" in ran.err


@pytest.mark.parametrize("name", ["zzz", "", "../policies/trust-tensors", "trust-tensors.qpolicy/x"])
def test_builtin_takes_names_only(tmp_path: Path, name: str) -> None:
    ran = run("check", healthy(tmp_path), "--policy", f"builtin:{name}")
    assert ran.code == 2
    assert "ships no policy" in ran.err
    assert name not in builtin_policies()


@pytest.mark.parametrize("command", [["lint"], ["fmt"], ["diff", "builtin:trust-tensors"]])
def test_what_is_no_policy_file_is_refused_with_what_is(tmp_path: Path, command: list[str]) -> None:
    checkpoint = healthy(tmp_path)
    ran = run(*command, checkpoint)
    assert ran.code == 2
    assert f"{checkpoint}: a folder; expected a policy file, such as {checkpoint / 'model.qpolicy'}\n" in ran.err
    file = policy(checkpoint / "mine.qpolicy", "lm_head: native")
    assert f"such as {file}\n" in run(*command, checkpoint).err
    assert "config.json: a JSON file, no policy; `qpolicy import`" in run(*command, checkpoint / "config.json").err
    assert ".safetensors: a file of tensors, no policy; " in run(*command, checkpoint / "model.safetensors").err
