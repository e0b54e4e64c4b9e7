"""The SARIF report: it fits the published schema, whatever is found, and points where it should."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import schemas
from documents import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from page_findings import found, page_of
from random_findings import FINDINGS

from qpolicy.lint.alone import lint_text
from qpolicy.lint.catalog import NAMES, every_code
from qpolicy.lint.finding import Finding
from qpolicy.lint.reporters import Checked, render
from qpolicy.lint.reporters.sarif import SCHEMA
from qpolicy.lint.selection import EVERYTHING

SHADOWED = (ROOT / "docs" / "examples" / "shadowed.qpolicy").read_text(encoding="utf-8")


def logged(checked: Sequence[Checked]) -> Any:
    """The one run of the report's log, which fits the schema."""
    log = json.loads(render(checked, "sarif"))
    schemas.of_sarif().validate(log)
    (run,) = log["runs"]
    return run


def shadowed() -> Checked:
    return Checked("model.qpolicy", lint_text(SHADOWED, "model.qpolicy", EVERYTHING).findings)


def test_the_log_names_the_schema_that_it_is_held_against() -> None:
    assert json.loads(render([], "sarif"))["$schema"] == schemas.of_sarif().schema["id"] == SCHEMA


@settings(max_examples=30, deadline=None)
@given(st.lists(FINDINGS, max_size=3))
def test_every_log_fits_the_schema(findings: list[Finding]) -> None:
    logged([Checked("a.qpolicy", tuple(findings)), Checked("folder of nothing", ())])


def test_what_is_found_in_the_pages_examples_fits_the_schema(tmp_path: Path) -> None:
    checked = [Checked(code.code, found(page_of(code).bad, tmp_path / code.code)) for code in every_code()]
    results = logged(checked)["results"]
    assert {result["ruleId"] for result in results} >= set(NAMES)
    assert any("relatedLocations" in result for result in results)
    assert any("fixes" in result for result in results)
    assert any("logicalLocations" in result["locations"][0] for result in results)
    assert any("region" not in result["locations"][0]["physicalLocation"] for result in results)


def test_sarif_points_at_rules_places_and_related_places() -> None:
    run = logged([shadowed()])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(NAMES)
    assert all(rule["help"]["markdown"].startswith(f"# {rule['id']} ") for rule in rules)
    dead = next(result for result in run["results"] if result["ruleId"] == "QP101")
    assert rules[dead["ruleIndex"]]["id"] == "QP101"
    (place,) = dead["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "model.qpolicy"}
    region = place["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"]) == (7, 1, 7, 35)
    (related,) = dead["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 6


def test_sarif_fixes_are_edits_of_the_text() -> None:
    run = logged([shadowed()])
    inner = next(result for result in run["results"] if result["ruleId"] == "QP108")
    (replacement,) = inner["fixes"][0]["artifactChanges"][0]["replacements"]
    region = replacement["deletedRegion"]
    assert SHADOWED[region["charOffset"] :][: region["charLength"]] == "lm_head, "
    assert replacement["insertedContent"] == {"text": ""}


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/ü#?.qpolicy", "a%20b/%C3%BC%23%3F.qpolicy"),
        ("/srv/x.qpolicy", "file:///srv/x.qpolicy"),
        ("100%", "100%25"),
    ],
)
def test_sarif_names_files_as_uris(file: str, uri: str) -> None:
    finding = Finding("QP101", "dead-rule", "warning", "m", file=file)
    run = logged([Checked("x", (finding,))])
    assert run["results"][0]["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": uri}}


def test_sarif_has_no_region_without_a_line() -> None:
    finding = Finding("QP101", "dead-rule", "warning", "m", column=3, end_line=4)
    (place,) = logged([Checked("x", (finding,))])["results"][0]["locations"]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "x"}}
