"""SGLang and we take the same one of two config files that disagree."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from qpolicy.checkpoint.config import read_configs
from qpolicy.native import consulted_place

pytestmark = pytest.mark.engine

MIXED = {"quantized_layers": {"a": {"quant_algo": "NVFP4", "group_size": 16}}}
OWN = "config.json: quantization_config"
BESIDE = "hf_quant_config.json: quantization"


def _config(algorithm: str, cache: bool, entry: str, key: str) -> dict[str, Any]:
    config = {
        "quant_algo": algorithm,
        key: [entry],
        "group_size": 16,
        **(MIXED if algorithm == "MIXED_PRECISION" else {}),
    }
    return config | ({"kv_cache_quant_algo": "FP8"} if cache else {})


@pytest.mark.parametrize("nested", [False, True], ids=["top", "text config"])
@pytest.mark.parametrize("beside", [True, False], ids=["two files", "one file"])
@pytest.mark.parametrize("own", [True, False], ids=["in config.json", "not in config.json"])
@pytest.mark.parametrize("cache", [True, False], ids=["cache", "no cache"])
@pytest.mark.parametrize("algorithm", ["FP8", "NVFP4", "MIXED_PRECISION"])
def test_which_file_is_read(
    engine: Any, tmp_path: Path, algorithm: str, cache: bool, own: bool, beside: bool, nested: bool
) -> None:
    entries = {OWN: "own", "config.json: text config's quantization_config": "own", BESIDE: "beside"}
    whole: dict[str, Any] = {"text_config": {"num_hidden_layers": 1}}
    if own:
        part = whole["text_config"] if nested else whole
        part["quantization_config"] = {"quant_method": "modelopt", **_config(algorithm, cache, "own", "ignore")}
    (tmp_path / "config.json").write_text(json.dumps(whole))
    if beside:
        section = _config(algorithm, True, "beside", "exclude_modules")
        (tmp_path / "hf_quant_config.json").write_text(
            json.dumps({"producer": {"name": "modelopt"}, "quantization": section})
        )
    place = consulted_place(read_configs(tmp_path).quantization_places)
    assert _read_by_sglang(engine, tmp_path, whole, algorithm) == (None if place is None else entries[place])


def _read_by_sglang(engine: Any, folder: Path, whole: dict[str, Any], algorithm: str) -> str | None:
    model = SimpleNamespace(
        quantization={"FP8": "modelopt_fp8", "NVFP4": "modelopt_fp4", "MIXED_PRECISION": "modelopt_mixed"}[algorithm],
        hf_config=whole,
        model_path=str(folder),
        revision=None,
        is_draft_model=False,
        is_draft_quantization_explicit=False,
    )
    try:
        config = engine("sglang.srt.model_loader.weight_utils").get_quant_config(
            model, SimpleNamespace(model_loader_extra_config=None, download_dir=None), {}
        )
    except ValueError:
        return None
    # Without any file SGLang would make a config of its own for `modelopt_fp4`, which excludes nothing.
    return next(iter(config.exclude_modules), None)
