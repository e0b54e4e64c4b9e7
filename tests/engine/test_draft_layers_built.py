"""Drafts that SGLang builds layer by layer: the plugin looks at the tensors of the layer that is built."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from checkpoints import write_checkpoint
from engine_process import require_engine

from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_run import run_jobs

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import make_architectures as script

pytestmark = pytest.mark.engine

FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
PLAIN = {"weight": ("BF16", (64, 64))}
PACKED = {"weight": ("F8_E4M3", (64, 64)), "weight_scale_inv": ("F32", (1, 1))}
# Where each architecture keeps its draft layers, and what layers 0, 1 and 2 are: Step 3.5's are built plain.
DRAFTS = {
    "MiMoV2FlashForCausalLM": ("model.mtp.layers.{}", (PACKED, PLAIN, PACKED)),
    "GigaChat35ForCausalLM": ("model.layers.{}", (PACKED, PLAIN, PACKED)),
    "Step3p5ForCausalLM": ("model.layers.{}", (PLAIN, PACKED, PLAIN)),
}
BY_TENSORS = "qpolicy 1\nwhen draft and not quantized_on_disk: unquantized\n"
NOTHING = "qpolicy 1\n"

Built = dict[tuple[str, str, int], Rehearsed]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The first three layers of each draft, without a rule and with one."""
    require_engine()
    models = {model.arch: model for model in script.models() if model.arch in DRAFTS}
    jobs = {}
    for arch, model in models.items():
        for policy in (NOTHING, BY_TENSORS):
            folder = _written(tmp_path_factory.mktemp(arch), arch, model, policy)
            for layer in range(3):
                jobs[arch, policy, layer] = Job(str(folder), True, draft_index=layer, plugin=True, limit=120)
    _, results = run_jobs(list(jobs.values()))
    return dict(zip(jobs, results, strict=True))


def _written(folder: Path, arch: str, model: script.Model, policy: str) -> Path:
    place, kinds = DRAFTS[arch]
    first = 0 if ".mtp." in place else model.layers or 0
    tensors = {
        f"{place.format(first + layer)}.{module}.{own}": header
        for layer, kind in enumerate(kinds)
        for module in ("self_attn.o_proj", "mlp.down_proj", "mlp.experts.0.down_proj")
        for own, header in kind.items()
    }
    write_checkpoint(folder, tensors, {**model.config, "num_nextn_predict_layers": 3, "quantization_config": FP8})
    (folder / "model.qpolicy").write_text(policy)
    return folder


@pytest.mark.parametrize("arch", DRAFTS)
@pytest.mark.parametrize("layer", range(3))
def test_the_odd_layer_alone_is_refused(built: Built, arch: str, layer: int) -> None:
    result = built[arch, NOTHING, layer]
    assert result.error is None
    assert bool(result.problems) is (layer == 1)
    place, kinds = DRAFTS[arch]
    how = "packed" if kinds[layer] is PLAIN else "plain"
    assert all(f"would be built {how}" in problem for problem in result.problems)
    named = place.format("").rstrip(".")
    assert all(named in problem and "reaches no stored" not in problem for problem in result.problems)


@pytest.mark.parametrize("arch", [arch for arch, (_, kinds) in DRAFTS.items() if kinds[1] is PLAIN])
def test_a_rule_by_the_tensors_builds_each_layer_as_it_is_stored(built: Built, arch: str) -> None:
    for layer in range(3):
        result = built[arch, BY_TENSORS, layer]
        assert result.error is None
        assert result.problems == []
        methods = {one.method for one in result.layers if one.name.endswith(("self_attn.o_proj", "mlp.experts"))}
        assert methods
        assert all(method.startswith("Unquantized") is (layer == 1) for method in methods)
