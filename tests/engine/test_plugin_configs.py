"""Every config class of SGLang that a CPU can construct, under every decision, for every kind of layer."""

from __future__ import annotations

from typing import Any

import pytest
from config_samples import MADE_OF_OTHERS, NOT_ON_A_CPU, SAMPLES
from engine_process import require_engine, results_of, start_script
from plugin_configs import DRAFT, LAYERS

pytestmark = pytest.mark.engine

CLASSES = (*SAMPLES, MADE_OF_OTHERS)
PLAIN = {"UnquantizedLinearMethod", "UnquantizedFusedMoEMethod", "UnquantizedEmbeddingMethod", "NoneType"}
CASES = [(name, kind) for name in CLASSES for kind in LAYERS]
WITH_WEIGHTS = [(name, kind) for name, kind in CASES if kind != "attention"]

Studies = dict[str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Studies:
    require_engine()
    path = tmp_path_factory.mktemp("configs") / "results.json"
    found: Studies = results_of(start_script("plugin_configs.py", path), path)
    return found


@pytest.fixture(scope="module")
def studies(results: Studies) -> Studies:
    found: Studies = results["studies"]
    return found


def test_no_config_class_is_forgotten(results: Studies) -> None:
    assert set(results["classes"]) == {*CLASSES, *NOT_ON_A_CPU}


@pytest.mark.parametrize("name", CLASSES)
def test_wrapped_config_is_still_what_it_was(studies: Studies, name: str) -> None:
    assert [fact for fact, true in studies[name]["shape"].items() if not true] == []


@pytest.mark.parametrize(("name", "kind"), WITH_WEIGHTS)
def test_unquantized_never_asks_the_class(studies: Studies, name: str, kind: str) -> None:
    answer = studies[name][kind]["unquantized"]
    plain = "UnquantizedLinearMethod" if kind == "linear" else "NoneType"
    assert answer == {"method": plain, "asked": 0, "noted": 1}


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_native_is_what_the_class_answers(studies: Studies, name: str, kind: str) -> None:
    own, native = studies[name][kind]["own"], studies[name][kind]["native"]
    if (name, kind) == ("W8A8Int8Config", "moe"):
        # The class answers an excluded experts layer with a linear layer's method, which SGLang then cannot build.
        assert own["method"] == "UnquantizedLinearMethod"
        assert "cannot build an excluded moe layer" in native["error"]
        return
    assert native["asked"] >= 1
    if "error" in own:
        assert native["error"].startswith(f"PolicyStop: qpolicy: {LAYERS[kind]} (")
        assert own["error"] in native["error"]
    else:
        assert native["method"] == own["method"]


@pytest.mark.parametrize(("name", "kind"), WITH_WEIGHTS)
def test_quantized_is_what_the_class_answers_without_its_list(studies: Studies, name: str, kind: str) -> None:
    empty, forced = studies[name][kind]["empty"], studies[name][kind]["quantized"]
    if "method" in empty and empty["method"] not in PLAIN:
        assert forced["method"] == empty["method"]
        return
    assert forced["error"].startswith(f"PolicyStop: qpolicy: {LAYERS[kind]} ")
    assert "**: quantized" in forced["error"]


@pytest.mark.parametrize(("name", "kind"), WITH_WEIGHTS)
def test_error_never_asks_the_class(studies: Studies, name: str, kind: str) -> None:
    answer = studies[name][kind]["error"]
    assert answer["asked"] == 0
    assert answer["error"].startswith(f"PolicyStop: qpolicy: {LAYERS[kind]} must not be built")
    assert "not this" in answer["error"]


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kind in WITH_WEIGHTS if kind != "lm_head"])
def test_dropped_draft_is_unquantized_but_for_its_packed_head(studies: Studies, name: str, kind: str) -> None:
    answer = studies[name][kind]["drop"]
    assert answer == studies[name][kind]["unquantized"]
    assert DRAFT[kind] != LAYERS[kind]


@pytest.mark.parametrize("name", CLASSES)
def test_packed_head_of_a_dropped_draft_is_asked_of_the_class(studies: Studies, name: str) -> None:
    answer, native = studies[name]["lm_head"]["drop"], studies[name]["lm_head"]["native"]
    assert answer["asked"] >= 1
    assert answer.get("method") == native.get("method")


def test_plain_layer_computes_what_torch_computes(results: Studies) -> None:
    forward = results["forward"]
    assert forward["plain"] == 1
    assert forward["size"] > 1
    assert forward["difference"] <= 0.05
