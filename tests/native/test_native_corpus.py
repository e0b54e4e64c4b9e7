"""Every published list that lies beside the checkout is read, and recorded answers of engines are reproduced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qpolicy.native import engine_reading, producer_reading, read_config

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
]

PACKED = {
    "qkv_proj": ["q_proj", "k_proj", "v_proj"],
    "gate_up_proj": ["gate_proj", "up_proj"],
    "in_proj_qkvz": ["in_proj_qkv", "in_proj_z"],
    "in_proj_ba": ["in_proj_b", "in_proj_a"],
}
NAMES = {
    "model.layers.3.self_attn.qkv_proj": "linear",
    "model.layers.3.mlp.gate": "linear",
    "mtp.layers.0.mlp.experts": "moe",
    "lm_head": "lm_head",
    "model.embed_tokens": "embedding",
}
DIALECTS = {
    "fp8 ignored_layers/modules_to_not_convert": ("fp8", "modules_to_not_convert"),
    "compressed-tensors ignore": ("compressed-tensors", "ignore"),
    "quark exclude": ("quark", "exclude"),
}
ENGINES = {
    "SGLang 0.5.23": "sglang",
    "SGLang 0.5.23 / vLLM (identical)": "sglang",
    "transformers 5.24": "transformers",
}
UNREAD = {("torchao", "sglang")}
RESULTS = {"ValueError": "refused", "re.error": "refused", "skip": "excluded", "quantize": "kept"}


def _quantizations() -> list[Any]:
    found = []
    for path in sorted((CORPUS / "configs").glob("*.json")):
        config = json.loads(path.read_text())
        text = config.get("text_config") or {}
        keys = ("quantization_config", "compression_config", "quantization")
        for number, quantization in enumerate(part.get(key) for part in (config, text) for key in keys):
            if isinstance(quantization, dict):
                found.append(pytest.param(quantization, id=f"{path.stem} {number}"))
    return found


def _recorded() -> list[Any]:
    found = []
    for number, line in enumerate((CORPUS / "readings.jsonl").read_text().splitlines()):
        row = json.loads(line)
        for side in "ab":
            engine = ENGINES.get(row[f"engine_{side}"])
            # A second name in brackets is the one that the other engine was asked about.
            if row["dialect"] in DIALECTS and engine and (engine == "sglang" or "(" not in row["module"]):
                found.append(pytest.param(row, engine, row[f"result_{side}"], id=f"{number}{side}"))
    return found


@pytest.mark.parametrize("quantization", _quantizations() if CORPUS.is_dir() else [])
def test_every_published_list_is_read(quantization: dict[str, Any]) -> None:
    config = read_config(quantization)
    for reading in (producer_reading(config, PACKED), engine_reading(config, "sglang", PACKED)):
        unread = config.dialect.startswith("unknown:") or (config.dialect, reading.engine) in UNREAD
        assert reading.supported is not unread
        for name, kind in NAMES.items():
            answer = reading.ask(name, kind)
            assert answer.outcome in ("unquantized", "quantized", "error", None)
            assert answer.why
            assert set(answer.entries) <= set(reading.matching(name, kind))


@pytest.mark.parametrize(("row", "engine", "result"), _recorded() if CORPUS.is_dir() else [])
def test_recorded_answers_of_engines(row: dict[str, Any], engine: str, result: str) -> None:
    method, key = DIALECTS[row["dialect"]]
    entries = row["entry"] if isinstance(row["entry"], list) else [row["entry"]]
    name = row["module"].split(" ")[0]
    kind = "moe" if name.endswith("experts") else "linear"
    listed = engine_reading(read_config({"quant_method": method, key: entries}), engine, PACKED).listed(name, kind)
    found = "refused" if listed.error else "excluded" if listed.excluded else "kept"
    assert found == RESULTS[result], row
