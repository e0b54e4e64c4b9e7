"""The reports for programs: JSON and SARIF fit their schemas, GitHub's annotations fit its limits."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from qpolicy.lint.alone import lint_text
from qpolicy.lint.catalog import NAMES
from qpolicy.lint.finding import Finding, Related, Severity
from qpolicy.lint.repair import Edit, Repair
from qpolicy.lint.reporters import Checked, render
from qpolicy.lint.reporters.github import SHOWN
from qpolicy.lint.selection import EVERYTHING

ROOT = Path(__file__).parents[2]
SCHEMAS = {
    "json": ROOT / "docs" / "schema" / "findings-1.json",
    "sarif": Path(__file__).with_name("sarif-2.1.0-subset.json"),
}
SHADOWED = (ROOT / "docs" / "examples" / "shadowed.qpolicy").read_text(encoding="utf-8")

TEXTS = st.text(min_size=1, max_size=20)
COUNTS = st.integers(1, 99)
PLACES = st.one_of(st.none(), COUNTS)
RELATED = st.builds(Related, TEXTS, TEXTS, COUNTS, COUNTS, COUNTS, COUNTS, st.just("excerpt"))
REPAIRS = st.builds(Repair, st.tuples(st.builds(Edit, st.integers(0, 9), st.integers(9, 99), st.text())), st.booleans())
SEVERITIES: st.SearchStrategy[Severity] = st.sampled_from(["error", "warning", "info"])
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(sorted(NAMES)),
    name=st.from_regex("[a-z-]+", fullmatch=True),
    severity=SEVERITIES,
    message=TEXTS,
    modules=st.lists(TEXTS, max_size=3).map(tuple),
    file=st.one_of(st.none(), TEXTS),
    line=PLACES,
    column=PLACES,
    fix=st.one_of(st.none(), TEXTS),
    end_line=PLACES,
    end_column=PLACES,
    related=st.lists(RELATED, max_size=2, unique=True).map(tuple),
    repair=st.one_of(st.none(), REPAIRS),
)


def validated(report: str, format_: str) -> Any:
    schema = json.loads(SCHEMAS[format_].read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    document = json.loads(report)
    Draft202012Validator(schema).validate(document)
    return document


@pytest.mark.parametrize("format_", sorted(SCHEMAS))
@settings(max_examples=30, deadline=None)
@given(st.lists(FINDINGS, max_size=3))
def test_every_report_fits_its_schema(format_: str, findings: list[Finding]) -> None:
    validated(render([Checked("a.qpolicy", tuple(findings))], format_), format_)


def shadowed() -> Checked:
    return Checked("model.qpolicy", lint_text(SHADOWED, "model.qpolicy", EVERYTHING).findings)


def test_the_schema_of_findings_refuses_what_it_should() -> None:
    document = json.loads(render([shadowed()], "json"))
    assert document["findings"]
    for key in document["findings"][0]:
        broken = {**document, "findings": [{k: v for k, v in document["findings"][0].items() if k != key}]}
        with pytest.raises(Exception, match="is a required property"):
            validated(json.dumps(broken), "json")


def test_sarif_points_at_rules_places_and_related_places() -> None:
    (run,) = validated(render([shadowed()], "sarif"), "sarif")["runs"]
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
    (run,) = validated(render([shadowed()], "sarif"), "sarif")["runs"]
    inner = next(result for result in run["results"] if result["ruleId"] == "QP108")
    (replacement,) = inner["fixes"][0]["artifactChanges"][0]["replacements"]
    region = replacement["deletedRegion"]
    assert SHADOWED[region["charOffset"] :][: region["charLength"]] == "lm_head, "
    assert replacement["insertedContent"] == {"text": ""}


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/ü#?.qpolicy", "a%20b/%C3%BC%23%3F.qpolicy"),
        ("/root/x.qpolicy", "file:///root/x.qpolicy"),
        ("100%", "100%25"),
    ],
)
def test_sarif_names_files_as_uris(file: str, uri: str) -> None:
    finding = Finding("QP101", "dead-rule", "warning", "m", file=file)
    (run,) = validated(render([Checked("x", (finding,))], "sarif"), "sarif")["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": uri}}


def test_github_annotations() -> None:
    findings = (
        Finding("QP102", "shadowed", "info", "note", file="a.qpolicy", line=2, column=3, end_line=2, end_column=9),
        Finding("QP201", "packed-for-plain", "error", "100% bad\nindeed", ("a.b", "c"), "x,y:z/config", fix="a: b"),
    )
    assert render([Checked("ckpt", findings, 4)], "github") == (
        "::error file=x%2Cy%3Az/config,title=QP201 packed-for-plain::"
        "100%25 bad%0Aindeed%0Amodules: a.b, c%0Afix: a: b\n"
        "::notice file=a.qpolicy,line=2,col=3,endLine=2,endColumn=9,title=QP102 shadowed::note\n"
        "1 error, 1 note in ckpt; 4 layers checked\n"
    )


def test_github_summary_says_what_github_will_not_show() -> None:
    errors = tuple(Finding("QP201", "n", "error", f"m{number}") for number in range(SHOWN + 3))
    warnings = tuple(Finding("QP205", "n", "warning", f"m{number}") for number in range(SHOWN))
    lines = render([Checked("ckpt", (*warnings, *errors))], "github").splitlines()
    assert [line.partition(" ")[0] for line in lines[:-2]] == ["::error"] * 13 + ["::warning"] * 10
    assert lines[-2].startswith("3 errors more than the 10 of a kind that GitHub shows for one step;")
    assert lines[-1] == "13 errors, 10 warnings in ckpt"


def test_github_files_are_named_from_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    finding = Finding("QP101", "dead-rule", "warning", "m", file=str(tmp_path / "sub" / "a.qpolicy"))
    assert "::warning file=sub/a.qpolicy," in render([Checked("x", (finding,))], "github")


@given(TEXTS, TEXTS)
def test_github_takes_no_text_for_a_command_of_its_own(message: str, file: str) -> None:
    report = render([Checked("x", (Finding("QP101", "dead-rule", "warning", message, file=file),))], "github")
    annotation, summary = report.splitlines()
    assert re.fullmatch(r"::warning file=[^,:]+,title=QP101 dead-rule::.*", annotation)
    assert summary == "1 warning in x"


def test_text_shows_a_caret_under_every_place() -> None:
    report = render([shadowed()])
    assert (
        "warning QP101 dead-rule at model.qpolicy:7:1\n"
        "  this rule is never reached: line 6 decides every module that it applies to, for instance\n"
        "  model.layers.0.mlp.gate by line 6\n"
        "    7 | model.layers.0.mlp.gate: quantized\n"
        "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  line 6 decides first, for instance model.layers.0.mlp.gate\n"
        "    6 | model.layers.{0..2}.**: unquantized\n"
        "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  fix (made by --fix --unsafe-fixes):\n"
        "      delete this line, or move it before line 6\n"
    ) in report


def test_text_names_the_file_of_a_place_in_another_file() -> None:
    finding = Finding("QP101", "n", "warning", "m", file="a", related=(Related("too", "b", 2, 1, 2, 3, "2 | x"),))
    assert "  b:2 too\n    2 | x\n" in render([Checked("a", (finding,))])
