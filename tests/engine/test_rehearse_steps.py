"""Steps travel from the process that rehearses to the one that waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from qpolicy.sglang import rehearse_steps
from qpolicy.sglang.rehearse_steps import Step, Steps, latest


def test_the_latest_step_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearse_steps, "_OFTEN", 0.0)
    file = tmp_path / "steps"
    tell = Steps(file)
    assert latest(file) is None
    tell("importing")
    assert latest(file) == Step("importing", 0, 0)
    tell("followed", 3, 7)
    tell("followed", 4, 7)
    assert latest(file) == Step("followed", 4, 7)


def test_steps_that_come_too_fast_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearse_steps, "_OFTEN", 60.0)
    file = tmp_path / "steps"
    tell = Steps(file)
    for done in range(1, 6):
        tell("followed", done, 7)
    assert latest(file) == Step("followed", 1, 7)
    tell("next")
    assert latest(file) == Step("next")


def test_steps_without_a_file_are_told_to_nobody(tmp_path: Path) -> None:
    Steps()("followed", 1, 2)
    assert not list(tmp_path.iterdir())
