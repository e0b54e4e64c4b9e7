"""The faults of the example checkpoints are real: the installed SGLang runs into each of them, and into no other."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from engine_models import Job, Outcome

pytestmark = pytest.mark.engine

EXAMPLES = Path(__file__).parents[2] / "examples"
NEXT = "qwen3-next-w4afp8/checkpoint"
QUARK = "qwen3.5-quark-mxfp4"
VARIANTS = ("full", "dense-only", "one-expert", "lookalike")
FP8 = "qwen3-fp8"
TARGETS = (NEXT, *(f"{QUARK}/{variant}" for variant in VARIANTS), FP8)

Outcomes = dict[tuple[str, bool, bool], Outcome]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every target, every draft, and the one draft whose layers are all answered unquantized."""
    if importlib.util.find_spec("sglang") is None:
        if os.environ.get("QPOLICY_REQUIRE_ENGINE") == "1":
            pytest.fail("QPOLICY_REQUIRE_ENGINE=1, but sglang is not installed")
        pytest.skip("sglang is not installed")
    work = tmp_path_factory.mktemp("engine")
    keys = [(example, draft, False) for example in TARGETS for draft in (False, True) if not (draft and example == FP8)]
    keys.append((NEXT, True, True))
    jobs = []
    for number, (example, draft, unquantized) in enumerate(keys):
        folder = shutil.copytree(EXAMPLES / example, work / str(number))
        jobs.append(asdict(Job(str(folder), draft, unquantized)))
    (work / "jobs.json").write_text(json.dumps(jobs))
    script = Path(__file__).with_name("engine_models.py")
    process = subprocess.run(
        [sys.executable, script, work / "jobs.json", work / "results.json"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    results = json.loads((work / "results.json").read_text())
    return {key: Outcome(**result) for key, result in zip(keys, results, strict=True)}


@pytest.mark.parametrize("example", TARGETS)
def test_every_target_loads_and_every_parameter_is_filled(outcomes: Outcomes, example: str) -> None:
    target = outcomes[example, False, False]
    assert target.error is None
    # Quark's config adds KV-cache scales, which a checkpoint without a quantized cache does not store.
    assert [name for name in target.missed if not name.endswith((".k_scale", ".v_scale"))] == []


def test_w4afp8_target_packs_its_experts_alone(outcomes: Outcomes) -> None:
    target = outcomes[NEXT, False, False]
    packed = {name for name, method in target.asked.items() if method == "CompressedTensorsFusedMoEMethod"}
    assert packed == {"model.layers.0.mlp.experts", "model.layers.1.mlp.experts"}
    assert set(target.asked.values()) <= {"CompressedTensorsFusedMoEMethod", "UnquantizedLinearMethod", "NoneType"}


def test_forgotten_mtp_head_does_not_load(outcomes: Outcomes) -> None:
    draft = outcomes[NEXT, True, False]
    assert draft.model == "Qwen3NextForCausalLMMTP"
    assert draft.asked["model.layers.0.mlp.experts"] == "CompressedTensorsFusedMoEMethod"
    assert draft.error is not None
    assert draft.error.startswith("KeyError: 'model.layers.0.mlp.experts.")


def test_forgotten_mtp_head_loads_once_every_layer_is_unquantized(outcomes: Outcomes) -> None:
    draft = outcomes[NEXT, True, True]
    assert draft.error is None
    assert set(draft.dtypes.values()) == {"torch.bfloat16"}
    # The draft is given the target's embeddings and head.
    assert draft.missed == ["model.embed_tokens.weight", "lm_head.weight"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_quark_target_packs_its_experts_alone(outcomes: Outcomes, variant: str) -> None:
    target = outcomes[f"{QUARK}/{variant}", False, False]
    packed = {name for name, method in target.asked.items() if method == "QuarkFusedMoEMethod"}
    assert packed == {f"model.language_model.layers.{layer}.mlp.experts" for layer in (0, 1)}
    assert "QuarkLinearMethod" not in target.asked.values()


@pytest.mark.parametrize("variant", ["full", "one-expert", "lookalike"])
def test_quark_draft_loses_its_config_when_any_entry_mentions_experts(outcomes: Outcomes, variant: str) -> None:
    draft = outcomes[f"{QUARK}/{variant}", True, False]
    assert (draft.quantization, draft.asked) == ("NoneType", {})
    assert draft.dtypes["model.layers.0.mlp.experts.w13_weight"] == "torch.bfloat16"


def test_quark_draft_with_dense_parts_excluded_is_decided_module_by_module(outcomes: Outcomes) -> None:
    draft = outcomes[f"{QUARK}/dense-only", True, False]
    assert draft.quantization == "QuarkConfig"
    assert draft.asked == {
        "mtp.layers.0.self_attn.qkv_proj": "UnquantizedLinearMethod",
        "mtp.layers.0.self_attn.o_proj": "UnquantizedLinearMethod",
        "mtp.layers.0.self_attn.attn": "QuarkKVCacheMethod",
        "mtp.layers.0.mlp.experts": "QuarkFusedMoEMethod",
        "mtp.layers.0.mlp.shared_expert.gate_up_proj": "UnquantizedLinearMethod",
        "mtp.layers.0.mlp.shared_expert.down_proj": "UnquantizedLinearMethod",
        "lm_head": "NoneType",
    }


@pytest.mark.parametrize("variant", ["full", "dense-only"])
def test_sound_quark_drafts_load(outcomes: Outcomes, variant: str) -> None:
    draft = outcomes[f"{QUARK}/{variant}", True, False]
    assert draft.error is None
    assert [name for name in draft.missed if "_scale" not in name] == ["lm_head.weight"]


@pytest.mark.parametrize("variant", ["one-expert", "lookalike"])
def test_quark_drafts_that_sglang_misreads_do_not_load(outcomes: Outcomes, variant: str) -> None:
    draft = outcomes[f"{QUARK}/{variant}", True, False]
    assert draft.error is not None
    assert "must match the size of tensor" in draft.error


def test_fp8_model_is_quantized_but_for_its_head(outcomes: Outcomes) -> None:
    target = outcomes[FP8, False, False]
    plain = {name for name, method in target.asked.items() if method != "Fp8LinearMethod"}
    assert plain == {"model.embed_tokens", "lm_head"}
