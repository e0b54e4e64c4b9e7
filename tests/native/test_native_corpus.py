"""Every published list that lies beside the checkout is read."""

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
UNREAD = {("torchao", "sglang")}


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
