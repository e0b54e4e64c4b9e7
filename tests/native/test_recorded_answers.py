"""Answers that were recorded from engines, here or elsewhere, are those of our readings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from qpolicy.native import Reading, engine_reading, read_config
from qpolicy.native.records import find_record

RECORDED = Path(__file__).parents[3] / "shared" / "corpus" / "readings.jsonl"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not RECORDED.is_file(), reason="no corpus beside the checkout"),
]

RESULTS = {"ValueError": "refused", "re.error": "refused", "skip": "excluded", "quantize": "kept"}
PACKED = {
    "qkv_proj": ["q_proj", "k_proj", "v_proj"],
    "gate_up_proj": ["gate_proj", "up_proj"],
    "in_proj_qkvz": ["in_proj_qkv", "in_proj_z"],
    "in_proj_ba": ["in_proj_b", "in_proj_a"],
}
BASES: dict[str, dict[str, Any]] = {
    "fp8": {"quant_method": "fp8", "activation_scheme": "dynamic"},
    "compressed-tensors": {"quant_method": "compressed-tensors"},
    "quark": {"quant_method": "quark"},
    "modelopt": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True},
    "bitsandbytes": {"quant_method": "bitsandbytes"},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
    "auto-round": {"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True},
    "torchao": {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8WeightOnlyConfig"}}},
    "humming": {"quant_method": "humming"},
}
LISTS = {
    "fp8": "modules_to_not_convert",
    "compressed-tensors": "ignore",
    "quark": "exclude",
    "modelopt": "ignore",
    "awq": "modules_to_not_convert",
    "bitsandbytes": "llm_int8_skip_modules",
    "torchao": "modules_to_not_convert",
    "humming": "ignore",
    "sglang-petit_nvfp4": "exclude_modules",
    "sglang-inkling": "exclude_modules",
}
DIALECTS = (
    ("fp8", "fp8"),
    ("compressed-tensors", "compressed-tensors"),
    ("quark exclude", "quark"),
    ("modelopt exclude", "modelopt"),
    ("inkling modelopt", "modelopt"),
    ("petit_nvfp4", "modelopt"),
    ("awq", "awq"),
    ("bitsandbytes", "bitsandbytes"),
    ("gptq", "gptq"),
    ("auto-round", "auto-round"),
    ("torchao", "torchao"),
    ("humming", "humming"),
)
# The beginnings of the names under which engines were recorded: our name, and the dialect if it is not the row's.
ENGINES = (
    ("SGLang 0.5.23 Petit", "sglang-petit_nvfp4", ""),
    ("SGLang 0.5.23 Inkling", "sglang-inkling", ""),
    ("SGLang 0.5.23 Humming", "sglang", "humming"),
    ("SGLang 0.5.23 ModelOpt", "sglang", "modelopt"),
    ("SGLang 0.5.23 Fp8Config", "sglang", "fp8"),
    ("SGLang 0.5.23 AWQ", "sglang", "awq"),
    ("SGLang 0.5.23 QuarkConfig", "sglang", "quark"),
    ("SGLang", "sglang", ""),
    ("vLLM quark (old)", "vllm 0a6c8da2", ""),
    ("vLLM", "vllm", ""),
    ("TensorRT-LLM (old)", "tensorrt-llm 1.0", ""),
    ("TensorRT-LLM (newest)", "tensorrt-llm", ""),
    ("transformers 5.24 other quantizers", "transformers 5.24.0", "fp8"),
    ("transformers 5.24", "transformers 5.24.0", ""),
    ("transformers 4.57.6", "transformers 4.57.6", ""),
    ("compressed-tensors lib", "compressed-tensors", ""),
    ("AMD Quark", "quark", ""),
    ("GPTQModel", "gptqmodel", ""),
    ("auto-round", "auto-round", ""),
    ("ModelOpt exporter", "modelopt", ""),
    ("checkpoint name", "transformers", ""),
)
UNFUSED = ("transformers", "compressed-tensors", "quark", "gptqmodel", "auto-round", "modelopt")
# Rows that no reading answers, and why.
EXCEPTIONS = {
    ("fp8 ignored_layers", "vLLM >= PR #43981 (fused name honoured)"): "only the request was read, no released code",
    ("modelopt_mixed quantized_layers (positive map, MTP)", "*"): "it is about a draft as a whole, not about a list",
    ("quark layer_quant_config (key)", "*"): "it is about schemes, and asked below",
}


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RECORDED.read_text().splitlines()] if RECORDED.is_file() else []


def _pairs() -> list[tuple[str, str]]:
    found = [(row["dialect"], row[f"engine_{side}"]) for row in _rows() for side in "ab"]
    return [pair for pair in dict.fromkeys(found) if pair not in EXCEPTIONS and (pair[0], "*") not in EXCEPTIONS]


@pytest.mark.parametrize(("dialect", "engine"), _pairs())
def test_recorded_answers(dialect: str, engine: str) -> None:
    asked, wrong = 0, []
    for number, row in enumerate(_rows(), 1):
        for side in "ab":
            if (row["dialect"], row[f"engine_{side}"]) == (dialect, engine):
                asked += 1
                found, expected = _answer(row, engine), RESULTS[row[f"result_{side}"]]
                # Quark itself knows no expressions, but its lists carry them for engines, and our reading says so.
                if engine.startswith("AMD Quark") and any(entry.startswith("re:") for entry in row["entry"]):
                    expected = "excluded"
                wrong += [] if found == expected else [f"line {number}: {row['entry']} {row['module']}: {found}"]
    assert asked
    assert not wrong, "\n".join(wrong)


def test_keys_of_quarks_layers() -> None:
    rows = [row for row in _rows() if row["dialect"] == "quark layer_quant_config (key)"]
    assert rows
    for row in rows:
        schemes = {entry: {"weight": {"bits": 4}} for entry in row["entry"]}
        config = read_config({**BASES["quark"], "layer_quant_config": schemes, "global_quant_config": {"weight": {}}})
        for side in "ab":
            name = "vllm" if row[f"engine_{side}"].startswith("vLLM") else "sglang"
            chosen = engine_reading(config, name, PACKED).ask(row["module"], "linear").scheme
            assert ("skip" if chosen in row["entry"] else "quantize") == row[f"result_{side}"]


def test_every_recorded_reading_is_asked() -> None:
    asked = {_known(dialect, engine)[:2] for dialect, engine in _pairs()}
    assert all(find_record(dialect, name, _variant(dialect)) for dialect, name in asked)
    assert len(asked) > 25


def _answer(row: dict[str, Any], engine: str) -> str:
    dialect, name, unfused = _known(row["dialect"], engine)
    reading = engine_reading(read_config(_config(dialect, name, row["entry"])), name, {} if unfused else PACKED)
    module = _module(row["module"], engine, unfused)
    module += ".1.gate_proj" if "expert 1 leaf" in engine else ""
    return _listed(reading, module)


def _listed(reading: Reading, module: str) -> str:
    assert reading.supported
    leaf = module.rpartition(".")[2]
    kind = "moe" if leaf == "experts" else "lm_head" if leaf == "lm_head" else "linear"
    listed = reading.listed(module, kind)
    return "refused" if listed.error else "excluded" if listed.excluded else "kept"


def _known(dialect: str, engine: str) -> tuple[str, str, bool]:
    """Return our names of the dialect and the engine, and whether it knows no fused layers."""
    name, own = next((name, own) for start, name, own in ENGINES if engine.startswith(start))
    found = own or next(known for start, known in DIALECTS if dialect.startswith(start))
    return found, name, name.partition(" ")[0] in UNFUSED


def _variant(dialect: str) -> str:
    return read_config(BASES[dialect]).variant


def _config(dialect: str, name: str, entries: list[str]) -> dict[str, Any]:
    if dialect == "gptq":
        return {**BASES[dialect], "dynamic": {entry: {} for entry in entries}}
    if dialect == "auto-round":
        return {
            **BASES[dialect],
            "extra_config": {entry.removesuffix(" -> bits 16"): {"bits": 16} for entry in entries},
        }
    return {**BASES[dialect], LISTS.get(name, LISTS[dialect]): entries}


def _module(text: str, engine: str, unfused: bool) -> str:
    """Return the name that an engine was asked about: a row may give one for each."""
    seen = dict(re.findall(r'([\w.\- ]+?) sees "([^"]+)"', text.partition(": ")[2]))
    if seen:
        return next(name for who, name in seen.items() if who.strip().startswith(engine.partition(" (")[0]))
    plain, _, other = text.partition(" (")
    return other.rstrip(")").rpartition(": ")[2] if other and unfused else plain
