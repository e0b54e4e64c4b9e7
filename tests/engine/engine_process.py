"""Runs a script of this folder in a process of its own, in the environment of the tests."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def require_engine() -> None:
    """Skip the calling test where SGLang is not installed; fail it where it has to be."""
    if importlib.util.find_spec("sglang") is None:
        if os.environ.get("QPOLICY_REQUIRE_ENGINE") == "1":
            pytest.fail("QPOLICY_REQUIRE_ENGINE=1, but sglang is not installed")
        pytest.skip("sglang is not installed")


def environment(**settings: str) -> dict[str, str]:
    """Return the environment of the tests, without settings of the plugin other than these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QPOLICY_")}
    return kept | settings


def start_script(name: str, *arguments: object, settings: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a script of this folder; read what it says with ``communicate``."""
    return subprocess.Popen(
        [sys.executable, str(HERE / name), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**settings or {}),
    )


def results_of(process: subprocess.Popen[str], results: Path) -> Any:
    """Wait for a script, and return the JSON that it wrote."""
    said, _ = process.communicate(timeout=500)
    assert process.returncode == 0, said[-4000:]
    return json.loads(results.read_text())


def copy_example(example: str, folder: Path, policy: str | None = None) -> Path:
    """Copy an example checkpoint into a folder of its own, with the policy of this text beside it or without any."""
    shutil.copytree(EXAMPLES / example, folder)
    for file in folder.glob("*.qpolicy"):
        file.unlink()
    if policy is not None:
        (folder / "model.qpolicy").write_text(policy)
    return folder
