"""The group: help, versions, wrong commands, what it imports, and how failures end."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from commandline import healthy, run

import qpolicy
from qpolicy.cli import check, failure, main
from qpolicy.errors import NothingToCheckError, QPolicyError


def python(code: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own."""
    env = {**os.environ, **settings}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)


def test_version() -> None:
    ran = run("--version")
    assert (ran.code, ran.out) == (0, f"qpolicy {qpolicy.__version__}\n")


def test_help_lists_every_command_in_order() -> None:
    ran = run("--help")
    assert ran.code == 0
    listed = ran.out.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in listed] == list(main.COMMANDS)


@pytest.mark.parametrize("name", list(main.COMMANDS))
def test_every_command_has_help(name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: qpolicy {name} ") or f"Usage: main {name} " in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chekc", "x"], "there is no command 'chekc'; did you mean 'check'?"),
        (["zzzzz"], "the commands are check, lint, decide"),
        (["sglang", "docter"], "there is no command 'docter'; did you mean 'doctor'?"),
        (["sglang", "zzzzz"], "the commands are doctor, rehearse"),
        (["check"], "Missing argument 'CKPT...'"),
        (["check", "--fromat", "json", "x"], "No such option"),
        (["check", "--format", "xml", "x"], "'xml' is not one of 'text', 'concise', 'json', 'sarif', 'github'"),
        (["check", "--select", "QP9", "x"], "--select: 'QP9' is not a finding's code"),
        (["lint", "--unsafe-fixes", "x"], "--unsafe-fixes goes with --fix or --diff"),
        (["lint", "--fix", "--diff", "x"], "choose one of them"),
        (["rule", "unsed-set"], "there is no finding 'unsed-set'; did you mean 'unused-set'?"),
        (["completion", "cmd"], "'cmd' is not one of 'bash', 'zsh', 'fish'"),
        (["decide", "x"], "Missing argument 'MODULE...'"),
        (["decide", "x", "m", "--kind", "dense"], "'dense' is not one of"),
        (["explain", "x"], "Missing argument 'MODULE'"),
        (["check", "a", "b", "--draft-checkpoint", "c"], "--draft-checkpoint goes with one CKPT"),
        (["fmt", "-", "a.qpolicy"], "'-' goes alone"),
        ([], "Usage:"),
    ],
)
def test_wrong_use_exits_with_2(arguments: list[str], told: str) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert told in ran.err
    assert not ran.out


@pytest.mark.parametrize(
    "value", ["qkv_proj", "qkv_proj=", "=q,k", "qkv_proj=q,,k", "a.qkv_proj=q,k", "qkv=q,q", "qkv=q, k"]
)
def test_wrong_packed_families_show_the_form(tmp_path: Path, value: str) -> None:
    ran = run("decide", healthy(tmp_path), "lm_head", "--packed", value)
    assert ran.code == 2
    assert "qkv_proj=q_proj,k_proj,v_proj" in " ".join(ran.err.split())


HEAVY = ("torch", "sglang", "pydantic", "rich", "lark")
ROOMS = ("qpolicy.native", "qpolicy.checkpoint.checkpoint", "qpolicy.bind.matcher", "qpolicy.analysis.inference")


def test_help_imports_no_room() -> None:
    code = f"""
import sys
from qpolicy.cli.main import main
try:
    main(["--help"], prog_name="qpolicy")
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", [name for name in {HEAVY} if name in sys.modules])
"""
    ran = python(code)
    assert ran.stdout.splitlines()[-1] == "loaded: []", ran.stderr


def test_lint_imports_nothing_that_only_a_checkpoint_needs(tmp_path: Path) -> None:
    file = tmp_path / "a.qpolicy"
    file.write_text("qpolicy 1\nlm_head: unquantized\n")
    code = f"""
import sys
from qpolicy.cli.main import main
try:
    main(["lint", sys.argv[1]], prog_name="qpolicy")
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", [name for name in {(*HEAVY[:4], *ROOMS)} if name in sys.modules])
"""
    ran = python(code, str(file))
    assert ran.stdout.splitlines()[-1] == "loaded: []", ran.stderr


def test_runs_as_a_module(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "qpolicy", "check", str(healthy(tmp_path))], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("clean: ")


def failing(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (QPolicyError("config.json: broken"), 2, "config.json: broken\n"),
        (NothingToCheckError("only GGUF"), 3, "only GGUF\n"),
        (PermissionError(13, "Permission denied", "secret"), 2, "secret: Permission denied\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.Abort(), 130, ""),
        (
            ZeroDivisionError("oh\nno"),
            2,
            "internal error: ZeroDivisionError: oh no; please report it, and run again with QPOLICY_DEBUG=1 for a "
            "traceback\n",
        ),
        (RecursionError("x" * 1000), 2, None),
    ],
)
def test_failures_become_one_message_and_a_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, told: str | None
) -> None:
    assert failure.guarded(lambda: failing(error)) == code
    err = capsys.readouterr().err
    assert err == told if told is not None else len(err) < 500


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(check, "open_checkpoint", lambda path: failing(ZeroDivisionError("oh")))
    folder = healthy(tmp_path)
    assert "Traceback" in run("check", folder, QPOLICY_DEBUG="1").err
    assert run("check", folder).err.startswith(f"{folder}: internal error: ZeroDivisionError: oh; please report it")


def test_click_errors_pass_through_the_guard() -> None:
    with pytest.raises(click.UsageError):
        failure.guarded(lambda: failing(click.UsageError("wrong")))


@pytest.mark.parametrize(
    ("codes", "together"), [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 1, 0], 1), ([1, 3, 2, 0], 2), ([3, 3], 3)]
)
def test_worst_of_several_codes(codes: list[int], together: int) -> None:
    assert failure.worst(codes) == together


def test_reader_that_leaves_early_is_no_failure_to_report(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "qpolicy", "table", str(folder)]
    with os.fdopen(writing, "wb") as pipe:
        ran = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (failure.READER_GONE, "")


@pytest.mark.parametrize("group", [[], ["sglang"]])
def test_help_of_a_group_imports_none_of_its_commands(group: list[str]) -> None:
    code = f"""
import sys
from qpolicy.cli.main import main
try:
    main({[*group, "--help"]}, prog_name="qpolicy")
except SystemExit as end:
    assert not end.code, end.code
commands = ("check", "table", "sglang_doctor", "sglang_rehearse")
print("loaded:", [name for name in commands if f"qpolicy.cli.{{name}}" in sys.modules])
"""
    ran = python(code)
    assert ran.stdout.splitlines()[-1] == "loaded: []", ran.stderr
