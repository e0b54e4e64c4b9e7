"""The table ``[tool.qpolicy]``: where it is looked for, what it may hold, and what comes before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import faulty, healthy, policy, run

from qpolicy.cli.settings import SETTINGS, settings_near
from qpolicy.errors import QPolicyError

UNUSED = "let a = x\n\nlm_head: native"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings_near.cache_clear()
    monkeypatch.chdir(tmp_path)


def settle(folder: Path, lines: str, table: str = "[tool.qpolicy]") -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "pyproject.toml").write_text(f"[project]\nname = 'x'\n\n{table}\n{lines}\n", encoding="utf-8")
    return folder / "pyproject.toml"


def test_lint_looks_from_the_policy_upwards(tmp_path: Path) -> None:
    settle(tmp_path / "project", "ignore = ['unused-set']")
    settle(tmp_path / "project" / "sub", "", table="[tool.other]")
    (tmp_path / "project" / "sub" / "deep").mkdir()
    inside = policy(tmp_path / "project" / "sub" / "deep" / "a.qpolicy", UNUSED)
    outside = policy(tmp_path / "b.qpolicy", UNUSED)
    assert run("lint", inside).code == 0
    assert run("lint", outside).code == 1
    assert run("lint", inside, outside).out.splitlines()[0] == f"clean: {inside}"


def test_the_nearest_table_counts_alone(tmp_path: Path) -> None:
    settle(tmp_path, "ignore = ['unused-set']")
    settle(tmp_path / "sub", "select = ['QP1']")
    assert run("lint", policy(tmp_path / "sub" / "a.qpolicy", UNUSED)).code == 1


def test_check_looks_from_the_current_folder_and_not_in_the_checkpoint(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    settle(folder, "ignore = ['QP']")
    assert run("check", folder).code == 1
    settle(tmp_path, "ignore = ['QP201']")
    settings_near.cache_clear()
    assert run("check", folder).code == 0


@pytest.mark.parametrize(
    ("table", "arguments", "code"),
    [
        ("ignore = ['QP106']", [], 0),
        ("ignore = ['QP106']", ["--ignore", "QP101"], 1),
        ("ignore = ['QP106']", ["--select", "QP106"], 0),
        ("select = ['QP2']", [], 0),
        ("select = ['QP2']", ["--select", "QP1"], 1),
        ("select = ['QP1']\nignore = ['QP106']", ["--select", "QP"], 0),
    ],
)
def test_the_command_line_replaces_a_setting_key_by_key(
    tmp_path: Path, table: str, arguments: list[str], code: int
) -> None:
    settle(tmp_path, table)
    assert run("lint", policy(tmp_path / "a.qpolicy", UNUSED), *arguments).code == code


def test_policy_engine_and_strict_are_defaults_of_every_command(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    policy(tmp_path / "mended.qpolicy", "model.layers.1.mlp.down_proj: unquantized")
    settle(tmp_path, "policy = 'mended.qpolicy'")
    assert run("check", folder).code == 0
    assert "mended.qpolicy:3:1" in run("decide", folder, "model.layers.1.mlp.down_proj").out
    assert run("check", folder, "--policy", policy(tmp_path / "none.qpolicy", "lm_head: native")).code == 1
    settle(tmp_path, "engine = 'nonesuch'")
    settings_near.cache_clear()
    assert "engine 'nonesuch' is not known" in run("check", folder).err
    assert run("check", healthy(tmp_path), "--engine", "sglang").code == 0


def test_strict_can_be_set_and_taken_back(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    file = policy(tmp_path / "a.qpolicy", "when not exists(@mtp) or quantized_on_disk(@mtp): native")
    settle(tmp_path, "strict = true")
    for more in ([], ["--no-strict"], ["--strict"]):
        assert run("check", folder, "--policy", file, *more).code == 0
    assert settings_near(tmp_path).values["strict"] is True


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("selct = []", "tool.qpolicy has no setting 'selct'; did you mean 'select'?"),
        ("zzz = 1", f"tool.qpolicy has no setting 'zzz'; the settings are {', '.join(SETTINGS)}"),
        ("select = 'QP1'", "tool.qpolicy.select must be a list of codes"),
        ("select = [1]", "tool.qpolicy.select must be a list of codes"),
        ("strict = 'yes'", "tool.qpolicy.strict must be true or false"),
        ("engine = 1", "tool.qpolicy.engine must be an engine's name"),
        ("ignore = ['QP999']", "tool.qpolicy.ignore: 'QP999' is not a finding's code"),
        ("ignore = [", "not a TOML file"),
    ],
)
@pytest.mark.parametrize("command", ["lint", "check"])
def test_wrong_settings_are_wrong_use(tmp_path: Path, command: str, table: str, told: str) -> None:
    file = settle(tmp_path, table)
    subject = policy(tmp_path / "a.qpolicy", UNUSED) if command == "lint" else healthy(tmp_path)
    ran = run(command, subject)
    assert (ran.code, ran.out) == (2, "")
    assert f"{file}: {told}" in ran.err


def test_a_table_that_is_none_is_wrong_use(tmp_path: Path) -> None:
    settle(tmp_path, "qpolicy = 3", table="[tool]")
    assert "tool.qpolicy is not a table" in run("check", healthy(tmp_path)).err


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(QPolicyError, match="cannot read this file"):
        settings_near(tmp_path)


def test_help_needs_no_settings(tmp_path: Path) -> None:
    settle(tmp_path, "selct = []")
    assert run("check", "--help").code == 0
    assert run("--version").code == 0
