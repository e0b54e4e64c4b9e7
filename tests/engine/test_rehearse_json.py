"""What ``qpolicy sglang rehearse --format json`` prints fits its schema."""

from __future__ import annotations

import json

import pytest
import schemas
from click.testing import CliRunner
from documents import ROOT
from engine_process import require_engine

from qpolicy.cli.main import main

pytestmark = pytest.mark.engine


def test_the_document_fits_its_schema() -> None:
    require_engine()
    checkpoint = ROOT / "examples" / "qwen3-next-w4afp8" / "checkpoint"
    ran = CliRunner().invoke(main, ["sglang", "rehearse", str(checkpoint), "--draft", "--format", "json"])
    document = json.loads(ran.stdout)
    schemas.of("rehearsal-1.json").validate(document)
    assert document["layers"] and document["findings"]
