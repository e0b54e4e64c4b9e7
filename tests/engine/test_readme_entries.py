"""What the README says of list entries is what the installed engine makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from documents import ROOT, Table, codes, pieces

pytestmark = pytest.mark.engine


def test_the_entries_catch_what_the_readme_says(engine: Any) -> None:
    tables = [piece for piece in pieces(ROOT / "README.md") if isinstance(piece, Table)]
    (table,) = (table for table in tables if table.header[0] == "entry of the list")
    for row in table.rows:
        entry, meant, also, where = (codes(cell)[0] for cell in row)
        module, _, function = where.rpartition(".")
        excludes = getattr(engine(f"sglang.srt.layers.quantization.{module}"), function)
        assert excludes(meant, [entry]) and excludes(also, [entry]) and not excludes("lm_head", [entry]), row
