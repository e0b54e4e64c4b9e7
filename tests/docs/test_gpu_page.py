"""The page about the check on a GPU says what the check does, and claims no result."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from documents import ROOT, Table, blocks, codes, pieces

PAGE = ROOT / "docs" / "gpu.md"
BENCHMARKS = ROOT / "benchmarks"


def assigned(file: Path, name: str) -> object:
    """The value of a constant of a module that cannot be imported without PyTorch."""
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == name for to in statement.targets
        ):
            return ast.literal_eval(statement.value)
    raise AssertionError(f"{file.name} has no {name}")


def rows() -> dict[str, str]:
    (table,) = (piece for piece in pieces(PAGE) if isinstance(piece, Table))
    return {codes(row[0])[0]: row[-1] for row in table.rows}


def test_the_formats_are_those_of_the_script() -> None:
    assert tuple(rows()) == assigned(BENCHMARKS / "gpu_check.py", "NAMES")


def test_the_policy_is_the_one_that_is_written() -> None:
    (block,) = blocks(PAGE, "qpolicy")
    assert block.text == assigned(BENCHMARKS / "gpu" / "checkpoints.py", "POLICY")


def test_the_tolerances_are_those_that_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from gpu.formats import FORMATS

    assert {name: float(tolerance) for name, tolerance in rows().items()} == {
        form.name: form.tolerance for form in FORMATS
    }


def test_the_pages_say_that_it_was_not_run() -> None:
    for page in (PAGE, ROOT / "examples" / "serve" / "README.md"):
        said = " ".join(page.read_text(encoding="utf-8").split())
        assert "not been run on a GPU yet" in said, page
