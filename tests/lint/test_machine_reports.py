"""The reports for programs: JSON fits its schema, GitHub's annotations fit its limits. SARIF has its own tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import schemas
from documents import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from random_findings import FINDINGS, TEXTS

from qpolicy.lint.alone import lint_text
from qpolicy.lint.finding import Finding, Related
from qpolicy.lint.reporters import Checked, render
from qpolicy.lint.reporters.github import SHOWN
from qpolicy.lint.selection import EVERYTHING

SHADOWED = (ROOT / "docs" / "examples" / "shadowed.qpolicy").read_text(encoding="utf-8")
SCHEMA = "findings-1.json"


@settings(max_examples=30, deadline=None)
@given(st.lists(FINDINGS, max_size=3))
def test_every_report_fits_its_schema(findings: list[Finding]) -> None:
    schemas.of(SCHEMA).validate(json.loads(render([Checked("a.qpolicy", tuple(findings))], "json")))


def shadowed() -> Checked:
    return Checked("model.qpolicy", lint_text(SHADOWED, "model.qpolicy", EVERYTHING).findings)


def test_the_schema_of_findings_refuses_what_it_should() -> None:
    document = json.loads(render([shadowed()], "json"))
    assert document["findings"]
    for key in document["findings"][0]:
        broken = {**document, "findings": [{k: v for k, v in document["findings"][0].items() if k != key}]}
        with pytest.raises(Exception, match="is a required property"):
            schemas.of(SCHEMA).validate(broken)


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
