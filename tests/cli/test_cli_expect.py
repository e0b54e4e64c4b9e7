"""``qpolicy test``: the ``expect`` lines of a policy."""

from pathlib import Path

from commandline import healthy, policy, run, with_draft


def test_met_expectations(tmp_path: Path) -> None:
    lines = "expect lm_head: unquantized\nexpect model.layers.*.down_proj: quantized"
    ran = run("test", healthy(tmp_path), "--policy", policy(tmp_path / "a.qpolicy", lines))
    assert (ran.code, ran.out, ran.err) == (0, "2 expectations met; 3 modules asked\n", "")


def test_failing_expectation_says_which_module_and_why(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "lm_head: unquantized\n\nexpect   lm_head: quantized")
    ran = run("test", healthy(tmp_path), "--policy", file)
    assert ran.code == 1
    assert ran.out.startswith(
        f"{file}:5:1: expect lm_head: quantized\n"
        "  fails for lm_head (target): it is unquantized\n"
        f"    lm_head (lm_head): unquantized, by {file}:3:1\n"
    )
    assert ran.out.endswith("1 of 1 expectation failed; 1 module asked\n")


def test_expectation_that_selects_nothing_fails(tmp_path: Path) -> None:
    ran = run("test", healthy(tmp_path), "--policy", policy(tmp_path / "a.qpolicy", "expect nowhere: quantized"))
    assert ran.code == 1
    assert "fails: it selects no module of this checkpoint" in ran.out
    assert ran.out.endswith("1 of 1 expectation failed; 0 modules asked\n")


def test_draft_is_asked_as_the_draft(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "when draft: unquantized\nexpect draft mtp.fc: quantized")
    ran = run("test", with_draft(tmp_path), "--policy", file)
    assert ran.code == 1
    assert "(draft): it is unquantized\n" in ran.out


def test_policy_without_expectations_is_nothing_to_test(tmp_path: Path) -> None:
    ran = run("test", healthy(tmp_path), "--policy", policy(tmp_path / "a.qpolicy", "lm_head: unquantized"))
    assert (ran.code, ran.out) == (3, "")


def test_no_policy_is_wrong_use(tmp_path: Path) -> None:
    ran = run("test", healthy(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert "--policy" in ran.err
