"""Every code has a page, and what the page shows is so."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_findings import FILE, found, page_of

from qpolicy.lang import Source, format_source
from qpolicy.lint.alone import LOOKED_FOR as IN_POLICY
from qpolicy.lint.alone import lint_text
from qpolicy.lint.catalog import NAMES, SYNTAX_CODES, code_of, described, every_code
from qpolicy.lint.check import Code
from qpolicy.lint.fixing import is_mendable, mended
from qpolicy.lint.pages import markdown
from qpolicy.lint.rules.qp120_unused_suppression import CODE as UNUSED_SUPPRESSION
from qpolicy.lint.run import LOOKED_FOR as IN_CHECKPOINT
from qpolicy.lint.selection import EVERYTHING

EVERY = pytest.mark.parametrize("code", every_code(), ids=lambda code: code.code)


@EVERY
def test_the_bad_example_has_this_finding_and_beside_it_only_remarks(code: Code, tmp_path: Path) -> None:
    findings = found(page_of(code).bad, tmp_path)
    these = [finding for finding in findings if finding.code == code.code]
    assert {(finding.name, finding.severity) for finding in these} == {(code.name, code.severity)}
    assert [finding for finding in findings if finding not in these and finding.severity != "info"] == []


@EVERY
def test_the_good_example_has_only_remarks_and_not_this_one(code: Code, tmp_path: Path) -> None:
    findings = found(page_of(code).good, tmp_path)
    assert [finding for finding in findings if finding.code == code.code or finding.severity != "info"] == []


@EVERY
def test_the_examples_are_formatted(code: Code) -> None:
    for example in (page_of(code).bad, page_of(code).good):
        if example.policy is not None and not (code.code in SYNTAX_CODES and example is page_of(code).bad):
            assert format_source(Source(FILE, example.policy)) == example.policy


@EVERY
def test_the_page_says_rightly_what_fix_does(code: Code) -> None:
    bad = page_of(code).bad
    if bad.policy is None:
        assert page_of(code).safety == "manual"
        return

    def left(unsafe: bool) -> bool:
        look = lambda text: lint_text(text, FILE, EVERYTHING)  # noqa: E731
        return any(finding.code == code.code for finding in mended(bad.policy or "", look, unsafe=unsafe).left.findings)

    if bad.checkpoint is None:
        assert (left(False), left(True)) == {
            "safe": (False, False),
            "unsafe": (True, False),
            "manual": (True, True),
        }[page_of(code).safety]


def test_every_code_that_is_looked_for_has_a_page_and_a_name() -> None:
    assert set(NAMES) == SYNTAX_CODES | IN_POLICY | IN_CHECKPOINT | {UNUSED_SUPPRESSION.code}
    for code, name in NAMES.items():
        assert (described(code).code, described(code).name) == (code, name)
        assert code_of(name) == code_of(code) == code
    assert len(set(NAMES.values())) == len(NAMES)
    assert code_of("QP999") is None


@EVERY
def test_the_page_is_complete_and_narrow(code: Code) -> None:
    page = markdown(code)
    assert page.startswith(f"# {code.code} {code.name}\n\nUsually: **{code.severity}**.\n")
    assert code.summary.endswith(".") and page_of(code).fix.endswith(".")
    for heading in ("## Why", "## Found in", "## Not found in", "## Fix"):
        assert f"\n\n{heading}\n\n" in page


def test_what_can_be_mended() -> None:
    findings = lint_text("qpolicy 1\n\nlet a = b\n", FILE, EVERYTHING).findings
    assert [is_mendable(finding, unsafe=False) for finding in findings] == [True]
