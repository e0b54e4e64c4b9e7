"""``qpolicy sglang doctor`` as a user runs it, beside the installed SGLang."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import schemas
from engine_process import EXAMPLES, environment, require_engine

pytestmark = pytest.mark.engine

CKPT = EXAMPLES / "qwen3-fp8"
CODE = """
import sys
from qpolicy.cli.main import main
try:
    main(sys.argv[1:], prog_name="qpolicy")
except SystemExit as end:
    print([name for name in ("torch", "sglang") if name in sys.modules], file=sys.stderr)
    raise
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """One run with a checkpoint, in a process of its own, that says at its end what of the engine it has imported."""
    require_engine()
    command = [sys.executable, "-c", CODE, "sglang", "doctor", str(CKPT), "--format", "json"]
    folder = tmp_path_factory.mktemp("doctor")
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=folder, timeout=400, check=False
    )


@pytest.fixture(scope="module")
def document(ran: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(ran.stdout)


def test_sound_installation(ran: subprocess.CompletedProcess[str], document: Any) -> None:
    assert ran.returncode == 0, ran.stdout + ran.stderr
    schemas.of("doctor-1.json").validate(document)
    assert document["active"]
    assert {check["status"] for check in document["checks"]} == {"ok"}
    groups = {check["group"] for check in document["checks"]}
    assert groups == {"sglang", "plugin", "hook", "probe", "setting", "policy"}


def test_engine_that_was_examined(document: Any) -> None:
    assert document["sglang"]["version"] == version("sglang")
    assert (Path(document["sglang"]["folder"]) / "srt").is_dir()


def test_policy_of_the_checkpoint(document: Any) -> None:
    told = {check["name"]: check["message"] for check in document["checks"] if check["group"] == "policy"}
    assert told[str(CKPT)] == f"{CKPT / 'model.qpolicy'}, beside the checkpoint"
    assert told["target"].startswith("the policy binds; digest ")


def test_calling_process_imports_nothing_of_the_engine(ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.stderr.splitlines()[-1] == "[]"
