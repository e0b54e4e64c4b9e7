"""``qpolicy rule`` and ``qpolicy completion``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from commandline import run

from qpolicy.cli.main import COMMANDS, main
from qpolicy.lint.catalog import NAMES, described
from qpolicy.lint.pages import markdown


def test_a_page_by_code_and_by_name() -> None:
    for text in ("QP106", "unused-set"):
        ran = run("rule", text)
        assert (ran.code, ran.out, ran.err) == (0, markdown(described("QP106")), "")


def test_several_pages() -> None:
    assert run("rule", "QP106", "QP101").out == f"{markdown(described('QP106'))}\n{markdown(described('QP101'))}"


def test_what_cannot_be_seen_is_escaped() -> None:
    assert '"vision\\ttower": unquantized' in run("rule", "QP001").out


def test_the_list_of_all() -> None:
    lines = run("rule").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[code, name] for code, name in NAMES.items()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    ran = run("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert f"_QPOLICY_COMPLETE={shell}_complete" in ran.out


VARIABLE = "_QPOLICY_COMPLETE"


def asking(words: tuple[str, ...]) -> dict[str, str]:
    """What bash sets when it asks what may follow these words."""
    return {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}


def completed(*words: str) -> list[str]:
    """What bash is offered after these words, each with its kind before it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in asking(words).items():
            patch.setenv(name, value)
        return BashComplete(main, {}, "qpolicy", VARIABLE).complete().splitlines()


def test_codes_files_and_folders_are_completed() -> None:
    assert "plain,QP106" in completed("qpolicy", "rule", "QP1")
    assert completed("qpolicy", "rule", "unused-se") == ["plain,unused-set"]
    assert completed("qpolicy", "check", "ckpt") == ["dir,ckpt"]
    assert completed("qpolicy", "lint", "a") == ["file,a"]
    assert "plain,builtin:trust-tensors" in completed("qpolicy", "lint", "builtin:t")
    assert completed("qpolicy", "lint", "--format", "s") == ["plain,sarif"]


def test_a_process_that_is_asked_prints_the_commands() -> None:
    words = ("qpolicy", "")
    env = {**os.environ, **asking(words), VARIABLE: "bash_complete"}
    code = "from qpolicy.cli.main import main; main(prog_name='qpolicy')"
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.splitlines() == completed(*words) == [f"plain,{name}" for name in COMMANDS]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_bash_script_is_bash(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(run("completion", "bash").out)
    subprocess.run(["bash", "-n", tmp_path / "script"], check=True)
