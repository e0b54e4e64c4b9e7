"""``qpolicy lint``: policy files alone."""

from pathlib import Path

from commandline import policy, run

from qpolicy.bind.files import builtin_policies


def test_good_policy(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "lm_head: unquantized")
    ran = run("lint", file)
    assert (ran.code, ran.out, ran.err) == (0, f"clean: {file}\n", "")


def test_mistakes_are_findings_with_place_and_caret(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "lm_head: unquantised")
    ran = run("lint", file)
    assert (ran.code, ran.err) == (1, "")
    assert f" at {file}:3:10\n" in ran.out
    assert "3 | lm_head: unquantised\n" in ran.out
    assert " ^^^^^^^^^^^\n" in ran.out
    assert ran.out.endswith(f"1 error in {file}\n")


def test_every_mistake_of_every_file_is_reported(tmp_path: Path) -> None:
    first = policy(tmp_path / "a.qpolicy", "lm_head: unquantised\nx: {")
    second = policy(tmp_path / "b.qpolicy", "a{0..: unquantized")
    ran = run("lint", first, second, "--format", "concise")
    assert ran.code == 1
    assert [line.split(":")[0] for line in ran.out.splitlines()] == [str(first), str(first), str(second)]


def test_malformed_patterns_are_found(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "let s = a.b\n@s.c: unquantized")
    ran = run("lint", file, "--format", "json")
    assert ran.code == 1
    [finding] = ran.json["findings"]
    assert (finding["file"], finding["line"], finding["severity"]) == (str(file), 4, "error")


def test_bytes_that_are_no_text_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.qpolicy").write_bytes(b"qpolicy 1\n\xff\xfe\n")
    ran = run("lint", tmp_path / "a.qpolicy")
    assert ran.code == 1
    assert "QP001" in ran.out


def test_missing_file_does_not_hide_the_others(tmp_path: Path) -> None:
    ran = run("lint", tmp_path / "nowhere", policy(tmp_path / "a.qpolicy", "lm_head: unquantised"))
    assert ran.code == 2
    assert "nowhere" in ran.err
    assert "1 error in " in ran.out


def test_shipped_policies_are_clean() -> None:
    names = [f"builtin:{name}" for name in builtin_policies()]
    assert names
    assert run("lint", *names).code == 0
