"""The pages under docs/rules are what the script writes."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_committed_pages_are_those_of_the_findings() -> None:
    pages: Callable[[], dict[str, str]] = runpy.run_path(str(ROOT / "scripts" / "make_rule_pages.py"))["pages"]
    committed = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "rules").iterdir()}
    assert committed == pages(), "run scripts/make_rule_pages.py"
