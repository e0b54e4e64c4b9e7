"""Launches in which no plugin would run where the model is built: refused when the model has a policy."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine_process import copy_example, require_engine, results_of, start_script
from plugin_launches import STARTED, Case

from qpolicy.sglang.launches import refuse
from qpolicy.sglang.settings import Mode, Settings, read_settings
from qpolicy.sglang.stop import PolicyStop

FP8 = "qwen3-fp8"
POLICY = "qpolicy 1\notherwise: native\n"


def _arguments(folder: Path, **given: Any) -> Any:
    return SimpleNamespace(**{"model_path": str(folder), "use_ray": False, "weight_cache_mode": "off", **given})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"use_ray": True}, "Ray actors. Start without --use-ray"),
        ({"weight_cache_mode": "daemon"}, "the weight cache's daemon. Start with --weight-cache-mode off"),
        ({"weight_cache_mode": "client"}, "the weight cache's daemon"),
    ],
)
def test_refused_with_a_policy(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    folder = copy_example(FP8, tmp_path / "a", POLICY)
    with pytest.raises(PolicyStop, match=r"model\.qpolicy for .* would not be asked") as raised:
        refuse(_arguments(folder, **given), Settings())
    assert told in str(raised.value)
    assert "QPOLICY_MODE=off" in str(raised.value)


def test_a_policy_beside_the_draft_counts(tmp_path: Path) -> None:
    target, draft = copy_example(FP8, tmp_path / "target"), copy_example(FP8, tmp_path / "draft", POLICY)
    refuse(_arguments(target, use_ray=True), Settings())
    with pytest.raises(PolicyStop, match=r"draft/model\.qpolicy"):
        refuse(_arguments(target, use_ray=True, speculative_draft_model_path=str(draft)), Settings())


def test_a_policy_from_the_settings_counts(tmp_path: Path) -> None:
    settings = read_settings({"QPOLICY_FILE": "builtin:trust-tensors"})
    with pytest.raises(PolicyStop, match="trust-tensors"):
        refuse(_arguments(copy_example(FP8, tmp_path / "a"), use_ray=True), settings)


def test_other_launches_look_for_no_policy() -> None:
    refuse(_arguments(Path("nowhere")), Settings())
    refuse(SimpleNamespace(model_path="nowhere"), Settings())


def test_warn_says_so_and_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    refuse(_arguments(copy_example(FP8, tmp_path / "a", POLICY), use_ray=True), Settings(Mode.WARN))
    assert "would not be asked" in caplog.text


@pytest.fixture(scope="module")
def raised(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What SGLang's engine raised in each case."""
    require_engine()
    work = tmp_path_factory.mktemp("launches")
    ours, bare = str(copy_example(FP8, work / "ours", POLICY)), str(copy_example(FP8, work / "bare"))
    cache = {"weight_cache_mode": "daemon"}
    cases = {
        "plain": Case(ours),
        "cache": Case(ours, cache),
        "cache, no policy": Case(bare, cache),
        "cache, off": Case(ours, cache, settings={"QPOLICY_MODE": "off"}),
        "ray": Case(ours, {"use_ray": True}),
        "ray engine": Case(ours, ray=True),
        "ray engine, no policy": Case(bare, ray=True),
    }
    (work / "cases.json").write_text(json.dumps({name: asdict(case) for name, case in cases.items()}))
    found: dict[str, str] = results_of(
        start_script("plugin_launches.py", work / "cases.json", work / "results.json"), work / "results.json"
    )
    return found


@pytest.mark.engine
@pytest.mark.parametrize("case", ["cache", "ray", "ray engine"])
def test_engine_refuses_before_it_starts_anything(raised: dict[str, str], case: str) -> None:
    assert raised[case].startswith("PolicyStop: qpolicy: ")
    assert "would not be asked" in raised[case]


@pytest.mark.engine
@pytest.mark.parametrize("case", ["plain", "cache, no policy", "cache, off", "ray engine, no policy"])
def test_engine_starts_where_nothing_is_lost(raised: dict[str, str], case: str) -> None:
    assert raised[case] == f"RuntimeError: {STARTED}"
