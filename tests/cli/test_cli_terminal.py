"""Colour, encodings, hostile names and progress: what reaches the terminal."""

import io
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkpoints import write_checkpoint, write_json
from commandline import LAYERS, faulty, healthy, run
from small import compressed, config, small_checkpoint

from qpolicy.cli import progress as progress_module
from qpolicy.cli.progress import progress

HOSTILE = "\x1b[2J\x07\u202e\x9b31mgate"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_no_colour_without_a_terminal(tmp_path: Path) -> None:
    for command in ("check", "table"):
        assert "\x1b" not in run(command, faulty(tmp_path, command)).out


@pytest.mark.parametrize("command", ["check", "table"])
def test_colour_can_be_forced_and_forbidden(tmp_path: Path, command: str) -> None:
    folder = faulty(tmp_path)
    assert "\x1b[" in run(command, folder, FORCE_COLOR="1").out
    assert "\x1b" not in run(command, folder, FORCE_COLOR="1", NO_COLOR="1").out
    assert "\x1b" not in run(command, folder, FORCE_COLOR="").out


@pytest.mark.parametrize("command", ["check", "decide", "explain", "table", "test"])
def test_hostile_list_entries_are_escaped(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "hostile"
    small_checkpoint(folder, {**LAYERS, "model.x.gate": "plain"}, compressed(["lm_head", HOSTILE, f"re:.*{HOSTILE}"]))
    (folder / "p.qpolicy").write_text("qpolicy 1\nexpect lm_head: quantized\n")
    modules = {"decide": ["lm_head", HOSTILE], "explain": [HOSTILE]}.get(command, [])
    ran = run(command, folder, *modules)
    assert ran.code in {1, 2}
    assert ran.out + ran.err
    assert (ran.out + ran.err).replace("\n", "").isprintable()


@pytest.mark.parametrize("command", ["check", "table"])
def test_hostile_tensor_names_are_escaped(tmp_path: Path, command: str) -> None:
    write_checkpoint(tmp_path / "hostile", {f"{HOSTILE}.weight": ("BF16", (8, 8))}, config(compressed()))
    ran = run(command, tmp_path / "hostile")
    assert ran.code in {1, 2}
    assert (ran.out + ran.err).replace("\n", "").isprintable()


def test_hostile_arguments_are_escaped() -> None:
    ran = run("check", HOSTILE)
    assert ran.code == 2
    assert ran.err.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("form", "encoding"), [("text", "ascii"), ("text", "cp1252"), ("text", "utf-8"), ("json", "ascii")]
)
def test_any_encoding_can_hold_the_output(tmp_path: Path, form: str, encoding: str) -> None:
    folder = tmp_path / "schicht"
    small_checkpoint(folder, {"model.層.down_proj": "plain"}, compressed())
    command = [sys.executable, "-m", "qpolicy", "table", str(folder), "--format", form]
    env = {"PYTHONIOENCODING": encoding, "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(command, capture_output=True, env=env, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ("層" if (encoding, form) == ("utf-8", "text") else "\\u5c64") in ran.stdout.decode(encoding)


def test_table_on_a_terminal_fits_its_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from qpolicy.cli import columns
    from qpolicy.cli.folding import Row

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    rows = [Row("model.layers.0." + "x" * 80, "stored." + "y" * 80, "linear", "error", "list", "weight bf16")]
    assert max(map(len, columns.columns(rows).splitlines())) <= 60


def test_progress_says_nothing_outside_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "PATIENCE", 0.0)
    with progress("checking"):
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("patience", "shown"), [(0.0, True), (60.0, False)])
def test_progress_shows_itself_when_it_lasts(monkeypatch: pytest.MonkeyPatch, patience: float, shown: bool) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress_module, "PATIENCE", patience)
    with progress(f"checking [bold]{HOSTILE}"):
        time.sleep(0.4 if shown else 0.01)
    assert ("checking [bold]\\x1b[2J" in stream.getvalue()) is shown


def test_progress_ends_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress_module, "PATIENCE", 0.0)
    with pytest.raises(ZeroDivisionError), progress("checking"):
        raise ZeroDivisionError


def test_quiet_stderr_when_all_is_well(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    write_json(folder / "generation_config.json", {})
    assert run("check", folder).err == ""
