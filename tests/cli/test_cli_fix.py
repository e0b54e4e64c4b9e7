"""``qpolicy lint --fix`` and ``--diff``."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from commandline import policy, run

TEXT = "let a = x  # old\n\na.**, a.b: native\na.c: unquantized"
SAFE = "qpolicy 1\n\n# old\n\na.**: native\na.c: unquantized\n"
UNSAFE = "qpolicy 1\n\n# old\n\na.**: native\n"


def test_fix_writes_and_reports_what_is_left(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", TEXT)
    ran = run("lint", file, "--fix")
    assert ran.code == 1
    assert file.read_text().split() == SAFE.split()
    assert ran.out.endswith(f"1 warning in {file} (2 fixed, 1 fixable with --fix --unsafe-fixes)\n")
    again = run("lint", file, "--fix")
    assert "(1 fixable with --fix --unsafe-fixes)" in again.out


def test_unsafe_fixes(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", TEXT)
    ran = run("lint", file, "--fix", "--unsafe-fixes")
    assert (ran.code, ran.out) == (0, f"clean: {file} (3 fixed)\n")
    assert file.read_text().split() == UNSAFE.split()


def test_diff_writes_nothing(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", TEXT)
    before = file.read_bytes()
    ran = run("lint", file, "--diff")
    assert ran.code == 1
    assert ran.out.startswith(f"--- {file}\n+++ {file} (mended)\n@@ ")
    assert "\n-a.**, a.b: native\n+a.**: native\n" in ran.out
    assert file.read_bytes() == before
    assert "\n-a.c: unquantized" in run("lint", file, "--diff", "--unsafe-fixes").out


def test_diff_of_a_clean_policy_is_empty(tmp_path: Path) -> None:
    ran = run("lint", policy(tmp_path / "a.qpolicy", "lm_head: native"), "--diff")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_only_what_is_selected_is_mended(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", TEXT)
    run("lint", file, "--fix", "--ignore", "unused-set")
    assert "let a = x" in file.read_text()
    assert "a.b" not in file.read_text()


@pytest.mark.parametrize("text", ["lm_head: native", "lm_head: unquantised"])
def test_a_file_without_anything_to_mend_is_not_touched(tmp_path: Path, text: str) -> None:
    file = policy(tmp_path / "a.qpolicy", text)
    before = file.stat()
    run("lint", file, "--fix")
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_fix_keeps_a_files_mode(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", TEXT)
    file.chmod(0o640)
    run("lint", file, "--fix")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_shipped_policies_are_not_mended() -> None:
    ran = run("lint", "builtin:trust-tensors", "--fix")
    assert (ran.code, ran.out) == (2, "")
    assert "copy it first" in ran.err


def test_bytes_that_are_no_text_are_reported_and_kept(tmp_path: Path) -> None:
    (tmp_path / "a.qpolicy").write_bytes(b"qpolicy 1\n\xff\n")
    assert run("lint", tmp_path / "a.qpolicy", "--fix").code == 1
    assert (tmp_path / "a.qpolicy").read_bytes() == b"qpolicy 1\n\xff\n"
