"""The example checkpoints: their faults are named without a policy, and gone or explained with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import qpolicy
from qpolicy.lint.finding import Finding
from qpolicy.lint.run import run_checks

EXAMPLES = Path(__file__).parents[2] / "examples"
NEXT = EXAMPLES / "qwen3-next-w4afp8"
QUARK = EXAMPLES / "qwen3.5-quark-mxfp4"


def found(folder: Path, policy: Path | None = None) -> dict[str, Finding]:
    loaded = None if policy is None else qpolicy.load(policy)
    return {f"{f.code} {f.message}": f for f in run_checks(qpolicy.open_checkpoint(folder), loaded).findings}


def codes(findings: dict[str, Finding]) -> list[str]:
    return sorted(finding.code for finding in findings.values() if finding.severity != "info")


def test_the_missing_mtp_head_is_named_module_by_module() -> None:
    findings = found(NEXT / "checkpoint")
    listed = next(finding for finding in findings.values() if finding.code == "QP303")
    draft = [module for module in qpolicy.open_checkpoint(NEXT / "checkpoint").draft_modules if module.kind]
    # SGLang's draft class builds these without asking, so that no entry is needed for them.
    unasked = {"mtp.fc", "mtp.layers.0.mlp.gate", "mtp.layers.0.mlp.shared_expert_gate"}
    assert set(listed.modules) == {module.name for module in draft} - unasked
    assert listed.fix == "when draft and not quantized_on_disk: unquantized"


def test_the_layers_that_would_be_built_packed_are_named_with_their_engine_name() -> None:
    packed = {f.modules[0]: f for f in found(NEXT / "checkpoint").values() if f.code == "QP201"}
    experts = packed["mtp.layers.0.mlp.experts.0.down_proj"]
    assert experts.severity == "error"
    assert "model.layers.0.mlp.experts (stored as mtp.layers.0.mlp.experts)" in experts.message
    assert "weight bf16" in experts.message
    assert experts.fix == "mtp.layers.0.mlp.experts: unquantized"
    assert "mtp.fc" not in packed
    # The engine asks about the draft's attention as model.layers.0, where the target's entries answer for it.
    assert not any("self_attn" in module for finding in packed.values() for module in finding.modules)


def test_with_its_policy_the_checkpoint_is_clean() -> None:
    assert not found(NEXT / "checkpoint", NEXT / "model.qpolicy")


@pytest.mark.parametrize(
    ("variant", "without", "with_policy"),
    [
        ("full", [], []),
        ("dense-only", [], []),
        ("one-expert", ["QP202", "QP304"], ["QP304"]),
        ("lookalike", ["QP202", "QP301"], ["QP301"]),
    ],
)
def test_the_four_ways_to_exclude_an_mtp_head(variant: str, without: list[str], with_policy: list[str]) -> None:
    assert codes(found(QUARK / variant)) == without
    assert codes(found(QUARK / variant, QUARK / "model.qpolicy")) == with_policy


@pytest.mark.parametrize(
    ("variant", "drops", "experts", "dense"),
    [
        ("full", True, "unquantized", "unquantized"),
        ("dense-only", False, "quantized", "unquantized"),
        ("one-expert", False, "error", "unquantized"),
        ("lookalike", False, "quantized", "unquantized"),
    ],
)
def test_the_decisions_behind_them(variant: str, drops: bool, experts: str, dense: str) -> None:
    policy = qpolicy.load(QUARK / "model.qpolicy")
    matcher = policy.bind(qpolicy.open_checkpoint(QUARK / variant), draft=True)
    assert matcher.drops is drops
    assert matcher.decide("mtp.layers.0.mlp.experts", kind="moe").outcome == experts
    assert matcher.decide("mtp.layers.0.self_attn.qkv_proj", kind="linear").outcome == dense


def test_one_excluded_expert_is_named() -> None:
    finding = next(iter(found(QUARK / "one-expert", QUARK / "model.qpolicy").values()))
    assert "excludes mtp.layers.0.mlp.experts.3.down_proj and not" in finding.message
    assert len(finding.modules) == 12


def test_an_entry_that_only_looks_like_the_experts_is_reported() -> None:
    finding = next(iter(found(QUARK / "lookalike", QUARK / "model.qpolicy").values()))
    assert "'mtp.layers.0.mlp.experts_something'" in finding.message
    assert "'experts', which would match 12 modules" in finding.message


def test_the_healthy_model_is_clean_with_and_without_its_policy() -> None:
    folder = EXAMPLES / "qwen3-fp8"
    assert not found(folder)
    assert not found(folder, folder / "model.qpolicy")
