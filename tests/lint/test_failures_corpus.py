"""Collected failures of published lists: what the check finds of each, and what docs/failures.md says of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from documents import ROOT, Table, codes, pieces
from failures import (
    CORPUS,
    NOT_REBUILT,
    NOT_THE_LIST,
    READ_BY,
    Failure,
    comes_out_right,
    failures,
    found_in,
    rebuilt,
)

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
]

PAGE = ROOT / "docs" / "failures.md"
POLICY = "qpolicy 1\n\nwhen not quantized_on_disk: unquantized\nwhen quantized_on_disk: quantized\n"
EVERY = failures() if CORPUS.is_dir() else []


def judged(failure: Failure, folder: Path) -> tuple[str, set[str]]:
    """What becomes of a failure, in the words of the page's columns, with the codes that find it."""
    if failure.kind in NOT_THE_LIST:
        return "elsewhere", set()
    if failure.row["id"] in NOT_REBUILT:
        return "not rebuilt", set()
    checkpoint = rebuilt(folder, failure)
    found = {one.code for one in found_in(checkpoint, failure) if set(one.modules) & failure.wrong()}
    if found:
        return "found", found
    return ("read right" if comes_out_right(checkpoint, failure) else "missed"), set()


@pytest.mark.parametrize("failure", EVERY, ids=lambda failure: failure.row["id"])
def test_a_failure_is_found_or_its_list_is_read_right(tmp_path: Path, failure: Failure) -> None:
    assert judged(failure, tmp_path)[0] != "missed"


@pytest.mark.parametrize("failure", EVERY, ids=lambda failure: failure.row["id"])
def test_two_rules_about_the_tensors_decide_it_right(tmp_path: Path, failure: Failure) -> None:
    if failure.kind in NOT_THE_LIST or failure.row["id"] in NOT_REBUILT:
        return
    found = found_in(rebuilt(tmp_path, failure), failure, POLICY)
    assert [one.message for one in found if set(one.modules) & failure.wrong()] == []


def test_the_page_counts_what_is_found(tmp_path: Path) -> None:
    counts: dict[str, Counter[str]] = {}
    by: dict[str, set[str]] = {}
    for number, failure in enumerate(EVERY):
        verdict, found = judged(failure, tmp_path / str(number))
        counts.setdefault(failure.kind, Counter())[verdict] += 1
        by.setdefault(failure.kind, set()).update(found)
    table = next(piece for piece in pieces(PAGE) if isinstance(piece, Table) and piece.header[0] == "kind")
    columns = ("found", "read right", "elsewhere", "not rebuilt")
    told = {
        codes(row[0])[0]: ([int(cell or 0) for cell in row[1:6]], set(codes(row[6])))
        for row in table.rows
        if row[0] != "all"
    }
    assert told == {
        kind: ([count.total(), *(count[column] for column in columns)], by[kind]) for kind, count in counts.items()
    }
    (total,) = (row for row in table.rows if row[0] == "all")
    assert [int(cell) for cell in total[1:6]] == [sum(row[0][at] for row in told.values()) for at in range(5)]


def test_the_page_names_the_versions_that_were_asked() -> None:
    table = next(piece for piece in pieces(PAGE) if isinstance(piece, Table) and piece.header[0] == "asked as")
    kinds: dict[str, set[str]] = {}
    for failure in EVERY:
        if failure.row["id"] in READ_BY:
            kinds.setdefault(failure.engine, set()).add(failure.kind)
    assert {codes(row[0])[0]: set(codes(row[1])) for row in table.rows} == kinds
