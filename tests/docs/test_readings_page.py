"""docs/readings.md is what the script writes, and says of every reading what it cannot say."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from qpolicy.native.records import every_record

ROOT = Path(__file__).parents[2]


def test_the_committed_page_is_that_of_the_records() -> None:
    page: Callable[[], str] = runpy.run_path(str(ROOT / "scripts" / "make_readings_page.py"))["page"]
    text = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
    assert text == page(), "run scripts/make_readings_page.py"
    limits = [limit for record in every_record() for limit in record.limits]
    assert len(limits) > 20
    assert all(limit in text for limit in limits)
