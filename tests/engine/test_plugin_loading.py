"""The plugin in SGLang's real loader: drafts that failed load, and nothing else changes."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from engine_process import EXAMPLES, copy_example, require_engine, results_of, start_script
from plugin_models import Job, Outcome

pytestmark = pytest.mark.engine

NEXT = "qwen3-next-w4afp8/checkpoint"
QUARK = "qwen3.5-quark-mxfp4"
VARIANTS = ("full", "dense-only", "one-expert", "lookalike")
FP8 = "qwen3-fp8"
QUARKS = tuple(f"{QUARK}/{variant}" for variant in VARIANTS)
EVERYTHING = ((NEXT, True), *((example, draft) for example in (NEXT, *QUARKS, FP8) for draft in (False, True)))
POLICIES = {NEXT: "qwen3-next-w4afp8", FP8: FP8} | dict.fromkeys(QUARKS, QUARK)
DOCS = EXAMPLES.parent / "docs" / "sglang.md"
RIGHT_PLAIN = "qpolicy 1\nlm_head: unquantized\n"
SMALL = {
    "wrong-rule": (FP8, False, "qpolicy 1\nmodel.layers.1.mlp.down_proj: unquantized\n"),
    "nothing-said": (NEXT, True, RIGHT_PLAIN),
    "forced": (NEXT, False, "qpolicy 1\nmodel.layers.0.mlp.shared_expert.down_proj: quantized\n"),
    "never-asked": (NEXT, True, "qpolicy 1\n@mtp.mlp.experts: unquantized\nwhen draft: quantized\n"),
    "nulled": (f"{QUARK}/lookalike", True, "qpolicy 1\n@mtp.mlp.experts: quantized\n"),
    "unheeded": (f"{QUARK}/lookalike", True, RIGHT_PLAIN),
    "head": (FP8, False, "qpolicy 1\nlm_head: quantized\n"),
    "refused": (FP8, False, 'qpolicy 1\nmodel.layers.0.**: error "not this one"\n'),
    "broken": (FP8, False, "qpolicy 1\nlm_head: unquantised\n"),
    "dropped-packed": (f"{QUARK}/dense-only", True, "qpolicy 1\ndrop mtp if draft\n"),
}

Outcomes = dict[str, Outcome]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every example without a plugin, with it but without a policy, with its policy; and the small cases."""
    require_engine()
    work = tmp_path_factory.mktemp("plugin")
    plain = {f"plain {name} {draft}": _job(work, name, draft) for name, draft in EVERYTHING}
    with_plugin = {f"no policy {name} {draft}": _job(work, name, draft) for name, draft in EVERYTHING}
    for name, draft in EVERYTHING:
        policy = (EXAMPLES / POLICIES[name] / "model.qpolicy").read_text()
        with_plugin[f"policy {name} {draft}"] = _job(work, name, draft, policy)
    for case, (name, draft, policy) in SMALL.items():
        with_plugin[case] = _job(work, name, draft, policy)
    with_plugin["whole"] = Job(with_plugin[f"policy {NEXT} True"].folder, True, whole=True)
    with_plugin["whole without"] = Job(with_plugin[f"no policy {NEXT} True"].folder, True, whole=True)
    with_plugin["dummy"] = Job(with_plugin["nothing-said"].folder, True, load_format="dummy")
    return _run(work, plain) | _run(work, with_plugin, "--plugin")


def _job(work: Path, example: str, draft: bool, policy: str | None = None) -> Job:
    return Job(str(copy_example(example, work / str(len(list(work.iterdir()))), policy)), draft)


def _run(work: Path, jobs: dict[str, Job], *options: str) -> Outcomes:
    name = options[0] if options else "plain"
    (work / f"{name}.json").write_text(json.dumps([asdict(job) for job in jobs.values()]))
    process = start_script("plugin_models.py", work / f"{name}.json", work / f"{name}.out", *options)
    results = results_of(process, work / f"{name}.out")
    return {key: Outcome(**result) for key, result in zip(jobs, results, strict=True)}


@pytest.mark.parametrize(("name", "draft"), EVERYTHING)
def test_no_policy_changes_nothing(outcomes: Outcomes, name: str, draft: bool) -> None:
    without, installed = outcomes[f"plain {name} {draft}"], outcomes[f"no policy {name} {draft}"]
    assert without.methods or without.error
    assert installed == without


def test_forgotten_draft_loads_through_the_whole_loader_with_the_policy_alone(outcomes: Outcomes) -> None:
    error = outcomes["whole without"].error
    assert error is not None
    assert error.startswith("KeyError: 'model.layers.0.mlp.experts.")
    whole = outcomes["whole"]
    assert whole.error is None
    assert set(whole.dtypes.values()) == {"bfloat16"}
    assert {method for _, method in whole.methods.values()} <= {
        "UnquantizedLinearMethod",
        "UnquantizedFusedMoEMethod",
        "UnquantizedEmbeddingMethod",
        "NoneType",
    }


@pytest.mark.parametrize("name", ["whole", f"policy {NEXT} True"])
def test_every_parameter_of_the_draft_is_the_tensor_on_disk(outcomes: Outcomes, name: str) -> None:
    draft = outcomes[name]
    # Embedding and head are the target's; the draft is given them after it has loaded.
    assert draft.different == ["model.embed_tokens.weight", "lm_head.weight"]
    assert draft.uncompared == []
    assert len(draft.dtypes) > 10


@pytest.mark.parametrize("name", [NEXT, *QUARKS, FP8])
def test_targets_get_the_same_methods_as_without_the_plugin(outcomes: Outcomes, name: str) -> None:
    without, decided = outcomes[f"plain {name} False"], outcomes[f"policy {name} False"]
    assert decided.error is None
    assert decided.methods == without.methods
    assert (decided.dtypes, decided.untouched) == (without.dtypes, without.untouched)
    assert len(without.methods) > 5


@pytest.mark.parametrize(
    ("variant", "config", "experts"),
    [
        ("full", "NoneType", "UnquantizedFusedMoEMethod"),
        ("dense-only", "QuarkConfig", "QuarkFusedMoEMethod"),
        ("lookalike", "QuarkConfig", "QuarkFusedMoEMethod"),
    ],
)
def test_quark_drafts_are_right_and_load(outcomes: Outcomes, variant: str, config: str, experts: str) -> None:
    draft = outcomes[f"policy {QUARK}/{variant} True"]
    assert (draft.error, draft.config) == (None, config)
    assert draft.methods["model.layers.0.mlp.experts"] == ["FusedMoE", experts]
    assert draft.methods["model.layers.0.qkv_proj"][1] == "UnquantizedLinearMethod"
    assert set(draft.different) <= {"lm_head.weight"}
    assert {name for name in draft.uncompared if ".attn." not in name} == {"model.embed_tokens.weight"}
    assert [name for name in draft.untouched if not name.endswith("_scale")] == ["lm_head.weight"]


def test_quark_draft_with_one_excluded_expert_is_refused_by_name(outcomes: Outcomes) -> None:
    error = outcomes[f"policy {QUARK}/one-expert True"].error
    assert error is not None
    assert error.startswith("PolicyStop: qpolicy: mtp.layers.0.mlp.experts must not be built")
    assert "mtp.layers.0.mlp.experts.3.down_proj" in error
    assert "mtp.layers.0.mlp.experts.0.down_proj" in error


def _refused(outcomes: Outcomes, case: str, *parts: str) -> None:
    error = outcomes[case].error
    assert error is not None
    missing = [part for part in parts if part not in error]
    assert missing == [], error


def test_rule_against_the_tensors_is_refused_before_the_layer_is_built(outcomes: Outcomes) -> None:
    _refused(
        outcomes,
        "wrong-rule",
        "PolicyStop: qpolicy: model.layers.1.mlp.down_proj would be built plain, but its weights are packed on disk",
        "on disk: model.layers.1.mlp.down_proj (weight_scale_inv f32 [1, 2], weight f8_e4m3 [128, 256])",
        "expected: weight bfloat16 [",
        "model.qpolicy:2:1: model.layers.1.mlp.down_proj: unquantized",
        "fix: decide model.layers.1.mlp.down_proj 'quantized'",
    )


def test_list_against_the_tensors_is_refused_too(outcomes: Outcomes) -> None:
    _refused(
        outcomes,
        "nothing-said",
        "PolicyStop: qpolicy: model.layers.0.mlp.experts would be built packed, but its weights are plain on disk",
        "mtp.layers.0.mlp.experts.0.",
        "weight bf16 [",
        "expected: w13_weight_packed int32 [",
        "(CompressedTensorsFusedMoEMethod)",
        "decided by: the checkpoint's own list",
        ": unquantized' to",
    )


def test_weights_that_are_not_read_are_not_compared(outcomes: Outcomes) -> None:
    assert outcomes["dummy"].error is None
    assert any("not compared with the disk: dummy weights" in line for line in outcomes["dummy"].log)


def test_quantized_for_what_the_list_excludes_is_asked_of_the_class_and_compared(outcomes: Outcomes) -> None:
    _refused(outcomes, "forced", "model.layers.0.mlp.shared_expert.down_proj", "weight bf16", "model.qpolicy:2:1")


def test_quantized_for_a_nulled_draft_is_refused_with_the_rule_that_nulled_it(outcomes: Outcomes) -> None:
    _refused(outcomes, "nulled", "mtp.layers.0.mlp.experts cannot be quantized", "mlp.experts", "'drop' statement")


def test_packed_experts_in_a_nulled_draft_are_refused_without_a_drop(outcomes: Outcomes) -> None:
    _refused(outcomes, "unheeded", "mtp.layers.0.mlp.experts would be built plain, but its weights are packed on disk")


def test_packed_experts_in_a_dropped_draft_are_refused(outcomes: Outcomes) -> None:
    _refused(outcomes, "dropped-packed", "mtp.layers.0.mlp.experts would be built plain", "drop mtp if draft")


def test_head_that_no_scheme_fits_is_refused(outcomes: Outcomes) -> None:
    _refused(outcomes, "head", "lm_head", "model.qpolicy:2:1", "quantized")


def test_error_decision_stops_with_its_reason(outcomes: Outcomes) -> None:
    _refused(outcomes, "refused", "model.layers.0.", "not this one", "model.qpolicy:2:1")


def test_broken_policy_stops_with_its_place(outcomes: Outcomes) -> None:
    _refused(outcomes, "broken", "model.qpolicy:2:10", "unquantised")


def test_what_was_decided_is_logged(outcomes: Outcomes) -> None:
    log = outcomes[f"policy {NEXT} True"].log
    assert any("7 layers decided (7 unquantized), 7 of them by rules" in line for line in log)


def test_docs_show_the_message_as_it_is(outcomes: Outcomes) -> None:
    error = outcomes["nothing-said"].error
    assert error is not None
    told = re.sub(r"/\S*/model\.qpolicy", "model.qpolicy", error.removeprefix("PolicyStop: "))
    assert "\n".join(f"    {line}" for line in told.splitlines()) in DOCS.read_text(encoding="utf-8")
