"""Rehearsal shows the faults of the example checkpoints without their policies, and none with them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qpolicy.checkpoint import open_checkpoint
from qpolicy.sglang.rehearse_faults import Fault, faults
from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_run import run_jobs

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).parents[2] / "examples"
NEXT, QUARK, FP8 = "qwen3-next-w4afp8", "qwen3.5-quark-mxfp4", "qwen3-fp8"
FOLDERS = {
    "next": f"{NEXT}/checkpoint",
    **{variant: f"{QUARK}/{variant}" for variant in ("full", "dense-only", "one-expert", "lookalike")},
}
POLICIES = {name: str(EXAMPLES / (NEXT if name == "next" else QUARK) / "model.qpolicy") for name in FOLDERS}

Key = tuple[str, bool, bool]


@pytest.fixture(scope="module")
def rehearsed() -> dict[Key, Rehearsed]:
    """Every example's target and draft, without and with its policy."""
    if importlib.util.find_spec("sglang") is None:
        if os.environ.get("QPOLICY_REQUIRE_ENGINE") == "1":
            pytest.fail("QPOLICY_REQUIRE_ENGINE=1, but sglang is not installed")
        pytest.skip("sglang is not installed")
    keys = [(name, draft, policy) for name in FOLDERS for draft in (False, True) for policy in (False, True)]
    _, results = run_jobs([_job(*key) for key in keys])
    return dict(zip(keys, results, strict=True))


def _job(name: str, draft: bool, policy: bool) -> Job:
    checkpoint = open_checkpoint(EXAMPLES / FOLDERS[name])
    tensors = tuple(
        (tensor.name, str(tensor.dtype), tensor.shape or ())
        for module in checkpoint.modules.values()
        for tensor in module.tensors.values()
    )
    return Job(str(checkpoint.path), draft, tensors, plugin=policy, policy=POLICIES[name] if policy else None)


def found(rehearsed: dict[Key, Rehearsed], key: Key) -> tuple[Fault, ...]:
    name, draft, _ = key
    return faults(rehearsed[key], open_checkpoint(EXAMPLES / FOLDERS[name]), draft=draft)


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("policy", [False, True])
def test_every_target_loads(rehearsed: dict[Key, Rehearsed], name: str, policy: bool) -> None:
    assert not found(rehearsed, (name, False, policy))


@pytest.mark.parametrize("name", ["next", "one-expert", "lookalike"])
def test_faulty_drafts_do_not_load_without_a_policy(rehearsed: dict[Key, Rehearsed], name: str) -> None:
    errors = [fault for fault in found(rehearsed, (name, True, False)) if fault.severity == "error"]
    assert errors
    assert all("experts" in fault.message for fault in errors)


def test_a_stored_tensor_without_a_parameter_is_named(rehearsed: dict[Key, Rehearsed]) -> None:
    fault = next(fault for fault in found(rehearsed, ("next", True, False)) if fault.code == "QP402")
    assert fault.modules[0].startswith("mtp.layers.0.mlp.experts.0.")
    assert "w2_weight" in fault.message


def test_a_dtype_that_does_not_fit_is_named(rehearsed: dict[Key, Rehearsed]) -> None:
    messages = [fault.message for fault in found(rehearsed, ("lookalike", True, False)) if fault.code == "QP404"]
    assert any("is uint8, but the parameter" in message for message in messages)
    assert any("must match the size" in message for message in messages)


@pytest.mark.parametrize("name", ["next", "full", "dense-only", "lookalike"])
def test_with_its_policy_every_draft_loads(rehearsed: dict[Key, Rehearsed], name: str) -> None:
    assert not found(rehearsed, (name, True, True))


def test_half_excluded_experts_are_refused_by_the_policy_too(rehearsed: dict[Key, Rehearsed]) -> None:
    (first, *_) = found(rehearsed, ("one-expert", True, True))
    assert first.code == "QP406"
    assert "mtp.layers.0.mlp.experts.3.down_proj" in first.message


def test_layers_have_the_classes_of_a_gpu(rehearsed: dict[Key, Rehearsed]) -> None:
    experts = next(layer for layer in rehearsed["next", False, False].layers if layer.kind == "moe")
    assert (experts.method, experts.scheme) == ("CompressedTensorsFusedMoEMethod", "CompressedTensorsW4AFP8MoE")


def test_the_command_prints_what_was_seen() -> None:
    if importlib.util.find_spec("sglang") is None:
        pytest.skip("sglang is not installed")
    shown = _command("--format", "json", "--draft")
    assert shown.returncode == 1, shown.stderr
    document: dict[str, Any] = json.loads(shown.stdout)
    assert document["model"] == "Qwen3NextForCausalLMMTP"
    (gate,) = (layer for layer in document["layers"] if layer["name"].endswith("mlp.gate"))
    assert (gate["asked"], gate["outcome"]) == (False, None)
    assert {finding["code"] for finding in document["findings"]} == {"QP402", "QP403"}
    wider = _command("--tp", "2", "--as", "sm100")
    assert wider.returncode == 0, wider.stdout + wider.stderr
    assert "as sm100" in wider.stdout


def _command(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "qpolicy", "sglang", "rehearse", str(EXAMPLES / FOLDERS["next"]), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
