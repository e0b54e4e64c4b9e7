"""Checkpoints rebuilt from long published lists take a handful of rules; no published config upsets the learner."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from inferring import assert_agrees, findings, patterns, rules
from rebuilt import CORPUS, MODELS, Model, entries, rebuilt
from small import small_checkpoint

import qpolicy
from qpolicy.analysis.inference import infer

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.file)
@pytest.mark.parametrize("listed", [False, True], ids=["tensors", "list"])
def test_hundreds_of_entries_become_a_few_rules(tmp_path: Path, model: Model, listed: bool) -> None:
    assert len(entries(json.loads((CORPUS / "configs" / model.file).read_bytes()))) == model.entries
    checkpoint = rebuilt(tmp_path, model)
    learned = infer(checkpoint, listed=listed)
    assert_agrees(checkpoint, learned)
    assert not learned.unmet
    assert not findings(checkpoint, learned)
    assert len(rules(learned)) <= 6
    assert len(patterns(learned)) <= 6


STATES = {
    "lm_head": "plain",
    "model.layers.0.mlp.gate": "plain",
    "model.layers.0.mlp.experts.0.down_proj": "packed",
    "model.layers.0.self_attn.o_proj": "fp8",
    "model.layers.1.self_attn.o_proj": "plain",
    "mtp.fc": "plain",
}


@pytest.mark.parametrize("file", sorted(path.name for path in CORPUS.glob("configs/*.json")))
def test_every_config(tmp_path: Path, file: str) -> None:
    config = json.loads((CORPUS / "configs" / file).read_bytes())
    checkpoint = small_checkpoint(tmp_path, STATES, config.get("quantization_config", config))
    learned = infer(checkpoint)
    if not learned.unmet:
        assert_agrees(checkpoint, learned)
    with suppress(qpolicy.QPolicyError):  # a list in a dialect that cannot be read
        assert "otherwise: " in infer(checkpoint, listed=True).text
