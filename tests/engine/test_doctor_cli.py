"""``qpolicy sglang doctor`` as a user runs it, beside the installed SGLang."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import schemas
from engine_process import EXAMPLES, environment, require_engine

from qpolicy.cli.doctored import Diagnosis, as_text
from qpolicy.sglang.doctor_check import Check

pytestmark = pytest.mark.engine

CKPT = EXAMPLES / "qwen3-fp8"
FIELDS = [field.name for field in fields(Check)]
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


def test_the_page_shows_what_is_printed(document: Any) -> None:
    checks = [Check(**{key: check[key] or "" for key in FIELDS}) for check in document["checks"]]
    printed = as_text(Diagnosis(**document["sglang"], checks=tuple(checks))).replace(f"{EXAMPLES.parent}/", "")
    page = (EXAMPLES.parent / "docs" / "sglang.md").read_text(encoding="utf-8")
    shown = page.split("$ qpolicy sglang doctor examples/qwen3-fp8\n")[1].split("\n\n")[0].splitlines()
    lines = printed.splitlines()
    assert len(shown) > 10
    for line in (one.strip() for one in shown):
        assert any(fits(line, one) for one in lines), f"the page shows:\n{line}\nprinted is:\n{printed}"


def fits(shown: str, printed: str) -> bool:
    """Whether a line is the printed one up to where the page leaves its rest out."""
    return printed.startswith(shown.removesuffix("...")) if shown.endswith("...") else shown == printed


def test_calling_process_imports_nothing_of_the_engine(ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.stderr.splitlines()[-1] == "[]"
