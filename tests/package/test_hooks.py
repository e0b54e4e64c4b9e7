"""The hooks for pre-commit do what a commit needs: each runs on policies alone, and says or mends what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOKS = [
    dict(re.findall(r"^[ -] (\w+): (.*)$", hook, re.MULTILINE))
    for hook in re.split(r"^(?=- id:)", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), flags=re.M)
    if hook
]
UNTIDY = "qpolicy 1\n\nlet a = x\nlm_head:native\n"


def test_the_hooks_have_what_pre_commit_needs() -> None:
    assert [hook["id"] for hook in HOOKS] == ["qpolicy-fmt", "qpolicy-lint", "qpolicy-lint-fix"]
    for hook in HOOKS:
        assert set(hook) == {"id", "name", "description", "entry", "language", "files"}
        assert (hook["language"], hook["name"]) == ("python", hook["entry"])


def test_the_hooks_are_described() -> None:
    page = (ROOT / "docs" / "integration.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(qpolicy-\S+)` \| `([^`]+)` \|$", page, re.MULTILINE) == [
        (hook["id"], hook["entry"]) for hook in HOOKS
    ]


@pytest.mark.parametrize(
    ("hook", "code", "after"),
    [
        (HOOKS[0], 0, "qpolicy 1\n\nlet a = x\nlm_head: native\n"),
        (HOOKS[1], 1, UNTIDY),
        (HOOKS[2], 0, "qpolicy 1\n\nlm_head:native\n"),
    ],
    ids=lambda value: value["id"] if isinstance(value, dict) else "",
)
def test_a_hook_runs_on_the_policies_of_a_repository(
    hook: dict[str, str], code: int, after: str, tmp_path: Path
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a b.qpolicy").write_text(UNTIDY)
    (tmp_path / "b.txt").write_text("not a policy")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    listed = subprocess.run(["git", "-C", tmp_path, "ls-files", "-z"], check=True, capture_output=True, text=True)
    files = [file for file in listed.stdout.split("\0") if re.search(hook["files"], file)]
    assert files == ["models/a b.qpolicy"]
    command = [sys.executable, "-m", *hook["entry"].split(), *files]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60).returncode == code
    assert (tmp_path / "models" / "a b.qpolicy").read_text() == after
