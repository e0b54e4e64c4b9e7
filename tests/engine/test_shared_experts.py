"""Shared experts that SGLang builds into the experts container are decided and compared as members of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from checkpoints import write_checkpoint
from engine_process import require_engine

from qpolicy.sglang.rehearse_job import Job, Layer, Rehearsed
from qpolicy.sglang.rehearse_run import run_jobs

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import make_architectures as script

pytestmark = pytest.mark.engine

PLAIN = {"weight": ("BF16", (64, 64))}
PACKED = {"weight": ("F8_E4M3", (64, 64)), "weight_scale_inv": ("F32", (1, 1))}
NOTHING = "qpolicy 1\n"
APART = "qpolicy 1\n**.shared_expert{,s}.**: unquantized\n"
SMALL = {"num_hidden_layers": 2, "num_nextn_predict_layers": 1}
# What makes SGLang fuse on an H100, where the model keeps its experts, and what the draft's layer is called on disk.
MODELS = {
    "Qwen3NextForCausalLM": ({"num_experts": 8, "full_attention_interval": 1}, "shared_expert", "mtp.layers.0"),
    "DeepseekV3ForCausalLM": ({"n_routed_experts": 256, "n_shared_experts": 1}, "shared_experts", "model.layers.2"),
}
# Never fused: SGLang knows this number of experts not.
APART_ANYHOW = {"n_routed_experts": 64, "n_shared_experts": 1}

Key = tuple[str, bool, str]


def _written(folder: Path, arch: str, shared: bool, policy: str, **more: object) -> Path:
    config, name, draft = MODELS[arch]
    base = next(model for model in script.models() if model.arch == arch).config
    tensors = {
        f"{layer}.mlp.{module}.{own}": header
        for layer in ("model.layers.1", draft)
        for module, packed in (("experts.0.down_proj", True), (f"{name}.down_proj", shared))
        for own, header in (PACKED if packed else PLAIN).items()
    }
    excluded = [] if shared else [f"model.layers.1.mlp.{name}", f"{draft}.mlp.{name}"]
    fp8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    whole = {**base, **SMALL, **config, **more, "quantization_config": {**fp8, "modules_to_not_convert": excluded}}
    write_checkpoint(folder, tensors, whole)
    (folder / "model.qpolicy").write_text(policy)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[Key, bool], Rehearsed]:
    """Each model with packed and with plain shared experts, without a rule and with one, target and draft."""
    require_engine()
    keys = [(arch, shared, policy) for arch in MODELS for shared in (True, False) for policy in (NOTHING, APART)]
    folders = {key: _written(tmp_path_factory.mktemp("shared"), *key) for key in keys}
    jobs = {
        (key, draft): Job(str(folders[key]), draft, plugin=True, limit=120) for key in keys for draft in (False, True)
    }
    apart = _written(tmp_path_factory.mktemp("apart"), "DeepseekV3ForCausalLM", False, APART, **APART_ANYHOW)
    jobs[("apart", False, APART), False] = Job(str(apart), plugin=True, limit=120)
    _, results = run_jobs(list(jobs.values()))
    return dict(zip(jobs, results, strict=True))


def experts(result: Rehearsed) -> list[Layer]:
    assert result.error is None
    return [layer for layer in result.layers if layer.kind == "moe"]


@pytest.mark.parametrize("arch", MODELS)
@pytest.mark.parametrize("draft", [False, True])
def test_shared_experts_stored_like_the_others_are_no_fault(
    built: dict[tuple[Key, bool], Rehearsed], arch: str, draft: bool
) -> None:
    result = built[(arch, True, NOTHING), draft]
    assert [layer.shared for layer in experts(result)] == [True] * len(experts(result))
    assert not [one for one in result.problems if "experts" in one.partition(" ")[0]]


@pytest.mark.parametrize("arch", MODELS)
@pytest.mark.parametrize("draft", [False, True])
def test_plain_shared_experts_in_a_packed_container_are_refused(
    built: dict[tuple[Key, bool], Rehearsed], arch: str, draft: bool
) -> None:
    result = built[(arch, False, NOTHING), draft]
    _, name, stored = MODELS[arch]
    layer = stored if draft else "model.layers.1"
    wrong = [one for one in result.problems if f"{layer}.mlp.{name}.down_proj" in one]
    assert wrong
    assert all("--disable-shared-experts-fusion" in one for one in wrong)


@pytest.mark.parametrize("arch", MODELS)
@pytest.mark.parametrize("draft", [False, True])
def test_a_rule_for_the_shared_experts_alone_cannot_be_kept(
    built: dict[tuple[Key, bool], Rehearsed], arch: str, draft: bool
) -> None:
    result = built[(arch, True, APART), draft]
    (wrong,) = (one for one in result.problems if "is one layer in the engine" in one)
    assert "--disable-shared-experts-fusion" in wrong


def test_shared_experts_that_stay_apart_are_not_compared_with_the_others(
    built: dict[tuple[Key, bool], Rehearsed],
) -> None:
    result = built[("apart", False, APART), False]
    assert [layer.shared for layer in experts(result)] == [False]
    assert result.problems == []
