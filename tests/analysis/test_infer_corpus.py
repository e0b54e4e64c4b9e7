"""Checkpoints rebuilt from long published lists: each takes a handful of rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inferring import assert_agrees, findings, patterns, rules
from rebuilt import CORPUS, MODELS, Model, entries, rebuilt

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
