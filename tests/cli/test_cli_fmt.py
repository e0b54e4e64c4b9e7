"""``qpolicy fmt``: what it writes, what it leaves, and that a file is replaced whole or not at all."""

import os
from pathlib import Path

import pytest
from commandline import run

from qpolicy.cli.replacing import replace

UGLY = "qpolicy   1\nlm_head :unquantized\n"
PRETTY = "qpolicy 1\nlm_head: unquantized\n"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_formats_in_place_and_says_what_changed(tmp_path: Path) -> None:
    ugly, pretty = written(tmp_path / "a.qpolicy", UGLY), written(tmp_path / "b.qpolicy", PRETTY)
    ran = run("fmt", ugly, pretty)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"{ugly}: formatted\n1 file formatted, 1 left as is\n"
    assert ugly.read_text() == pretty.read_text() == PRETTY
    assert run("fmt", ugly, pretty).out == "0 files formatted, 2 left as is\n"


def test_check_writes_nothing(tmp_path: Path) -> None:
    ugly, pretty = written(tmp_path / "a.qpolicy", UGLY), written(tmp_path / "b.qpolicy", PRETTY)
    ran = run("fmt", "--check", ugly, pretty)
    assert (ran.code, ran.out) == (1, f"{ugly}: would change\n1 file would change, 1 left as is\n")
    assert ugly.read_text() == UGLY
    assert run("fmt", "--check", pretty).code == 0


def test_diff_writes_nothing_and_shows_the_change(tmp_path: Path) -> None:
    ugly = written(tmp_path / "a.qpolicy", UGLY)
    ran = run("fmt", "--diff", ugly)
    assert ran.code == 1
    assert ran.out.splitlines()[-4:] == ["-qpolicy   1", "-lm_head :unquantized", "+qpolicy 1", "+lm_head: unquantized"]
    assert ugly.read_text() == UGLY


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_standard_input_can_be_looked_at_only(option: str) -> None:
    assert run("fmt", option, "-", stdin=UGLY).code == 1
    assert run("fmt", option, "-", stdin=PRETTY).code == 0


def test_standard_input_to_standard_output() -> None:
    assert run("fmt", "-", stdin=UGLY.replace("lm_head", "é")).out == PRETTY.replace("lm_head", "é")


def test_broken_standard_input_prints_nothing() -> None:
    ran = run("fmt", "-", stdin="qpolicy 1\nlm_head unquantized\n")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("<stdin>:2:")


def test_broken_file_is_left_alone_and_the_others_are_formatted(tmp_path: Path) -> None:
    broken, ugly = written(tmp_path / "a.qpolicy", "qpolicy 2\n"), written(tmp_path / "b.qpolicy", UGLY)
    ran = run("fmt", broken, tmp_path / "nowhere", ugly)
    assert (ran.code, ran.out) == (2, f"{ugly}: formatted\n1 file formatted, 0 left as is, 2 could not be formatted\n")
    assert f"{broken}:1:" in ran.err
    assert f"{tmp_path / 'nowhere'}: cannot read this policy file: No such file or directory\n" in ran.err
    assert (broken.read_text(), ugly.read_text()) == ("qpolicy 2\n", PRETTY)


def test_mode_and_links_survive(tmp_path: Path) -> None:
    ugly = written(tmp_path / "a.qpolicy", UGLY)
    ugly.chmod(0o640)
    link = tmp_path / "link.qpolicy"
    link.symlink_to(ugly)
    assert run("fmt", link).code == 0
    assert link.is_symlink()
    assert (ugly.read_text(), ugly.stat().st_mode & 0o777) == (PRETTY, 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.qpolicy", "link.qpolicy"]


def test_failing_write_leaves_the_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ugly = written(tmp_path / "a.qpolicy", UGLY)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        replace(ugly, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.qpolicy"]
    assert ugly.read_text() == UGLY
