"""Layers that do not ask the loader's config as they stand: foreign configs, none, a given method, no name, a probe."""

from __future__ import annotations

from typing import Any

import pytest
from engine_process import require_engine, results_of, start_script

pytestmark = pytest.mark.engine

Results = dict[str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    require_engine()
    path = tmp_path_factory.mktemp("layers") / "results.json"
    found: Results = results_of(start_script("plugin_layers.py", path), path)
    return found


def test_config_that_a_model_made_itself_is_decided_too_and_stays_untouched(results: Results) -> None:
    assert results["foreign_config"] == {
        "inside": "UnquantizedLinearMethod",
        "outside": "Fp8LinearMethod",
        "untouched": "Fp8Config",
    }


def test_layer_built_without_a_config_stays_plain_or_is_refused(results: Results) -> None:
    found = results["no_config"]
    assert found["unquantized"] == found["native"] == "UnquantizedLinearMethod"
    assert "cannot be quantized: the model builds this RowParallelLinear without a quantization" in found["quantized"]
    assert "must not be built" in found["error"]


def test_method_that_a_model_hands_in_is_compared_with_the_policy(results: Results) -> None:
    found = results["given_method"]
    assert found["native"] == "Fp8MoEMethod"
    assert "the model itself gives it Fp8MoEMethod" in found["unquantized"]


def test_layer_without_a_name_is_left_to_the_engine_and_noted(results: Results) -> None:
    assert results["unnamed"] == {"method": "Fp8LinearMethod", "noted": [""]}


def test_probe_is_answered_by_the_policy_and_noted_nowhere(results: Results) -> None:
    found = results["probed"]
    assert (found["unquantized"], found["native"], found["quantized"]) == (True, True, False)
    assert {found[f"{decision} noted"] for decision in ("unquantized", "native", "quantized")} == {0}


def test_named_scheme_is_that_of_its_group(results: Results) -> None:
    found = results["named_scheme"]
    assert (found["wide"], found["narrow"]) == (8, 4)
    assert found["unknown"].startswith("BindError: ")
    assert found["unknown"].endswith("has no scheme 'none'; it has: wide, narrow")


def test_warn_mode_logs_and_uses_the_engine_s_own_answer(results: Results) -> None:
    found = results["warned"]
    assert found["methods"] == ["Fp8LinearMethod", "UnquantizedLinearMethod"]
    assert len(found["problems"]) == 2


def test_copied_config_is_asked_with_its_own_list(results: Results) -> None:
    assert results["edited_copy"] == {"copy": "UnquantizedLinearMethod", "original": "Fp8LinearMethod"}


def test_config_that_a_draft_class_took_away_is_put_back_for_packed_layers_alone(results: Results) -> None:
    found = results["nulled_draft"]
    assert found["with drop"] == ["QuarkFusedMoEMethod", "UnquantizedLinearMethod"]
    refused, plain = found["without"]
    assert refused.startswith("PolicyStop: qpolicy: mtp.layers.0.mlp.experts would be built plain")
    assert "sglang builds Qwen3_5ForCausalLMMTP without quantization" in refused
    assert plain == "UnquantizedLinearMethod"
