"""Import then export keeps a list's meaning, on every published config whose dialect can be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from listed import rebuilt

from qpolicy.analysis.exporting import SLOTS, CannotSayError, export
from qpolicy.analysis.importing import import_list
from qpolicy.analysis.importing.answers import engine_answers
from qpolicy.native import read_config
from qpolicy.native.records import find_record

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
]
_LINES = 60
_KEYS = ("quantization_config", "compression_config", "quantization")


def _listed() -> list[Any]:
    found = []
    for path in sorted((CORPUS / "configs").glob("*.json")):
        whole = json.loads(path.read_text())
        if not isinstance(whole, dict):
            continue
        parts = [part for part in (whole, whole.get("text_config")) if isinstance(part, dict)]
        held = [part.get(key) for part in parts for key in _KEYS]
        held = [one for one in held if isinstance(one, dict)] or [whole]
        for number, quantization in enumerate(held):
            config = read_config(quantization)
            if config.dialect in SLOTS and find_record(config.dialect, "sglang", config.variant):
                found.append(pytest.param(quantization, whole, id=f"{path.stem} {number}"))
    return found


@pytest.mark.parametrize(("quantization", "whole"), _listed() if CORPUS.is_dir() else [])
def test_import_then_export_keeps_the_meaning(tmp_path: Path, quantization: dict[str, Any], whole: Any) -> None:
    checkpoint = rebuilt(tmp_path, quantization, whole if whole is not quantization else {})
    before = engine_answers(checkpoint, "sglang")
    imported = import_list(checkpoint)
    assert imported.checked == len(before)
    statements = [line for line in imported.text.splitlines() if line and not line.startswith("#")]
    assert len(statements) <= _LINES, imported.text
    dialect = read_config(quantization).dialect
    refused = [one for one in before if one.answer.outcome == "error"]
    if refused:
        with pytest.raises(CannotSayError, match="error"):
            export(checkpoint, imported.policy, dialect)
        return
    exported = export(checkpoint, imported.policy, dialect)
    assert (exported.own, exported.checked) == (True, len(before))
    assert len(exported.entries) <= max(len(read_config(quantization).entries), 12)
