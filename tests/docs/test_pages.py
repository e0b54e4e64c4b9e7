"""The pages beside the language reference: their examples run, their lists are complete, their links lead somewhere."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest
from consoles import run_shown
from documents import ROOT, Block, Table, blocks, codes, pieces

import qpolicy
from qpolicy.cli.main import COMMANDS
from qpolicy.cli.settings import SETTINGS, settings_near
from qpolicy.lang import Source, format_source
from qpolicy.lint.catalog import NAMES
from qpolicy.lint.rehearsal import CODES as REHEARSED
from qpolicy.lint.selection import Selection

README = ROOT / "README.md"
CHECKING = ROOT / "docs" / "checking.md"
LIBRARY = ROOT / "docs" / "library.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("examples/**/*.md"))]


def tables(page: Path, *first: str) -> list[Table]:
    """The tables of a page whose header begins with these words."""
    return [piece for piece in pieces(page) if isinstance(piece, Table) and piece.header[: len(first)] == first]


def tagged(tag: str) -> list[Any]:
    """Every block with a tag outside the language reference, which has its own tests."""
    pages = [page for page in PAGES if page.name != "language.md"]
    return [pytest.param(block, id=f"{page.name}:{block.line}") for page in pages for block in blocks(page, tag)]


@pytest.mark.parametrize("page", [README, LIBRARY], ids=lambda page: page.name)
def test_the_python_examples_print_what_they_show(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = "".join(block.text for block in blocks(page, "pycon"))
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=report.append)
    assert result.attempted and not result.failed, "".join(report)


@pytest.mark.parametrize("block", tagged("console"))
def test_the_commands_print_what_the_page_shows(block: Block, tmp_path: Path) -> None:
    run_shown(block.text, tmp_path)


@pytest.mark.parametrize("block", tagged("qpolicy"))
def test_the_policies_parse_and_are_formatted(block: Block) -> None:
    qpolicy.parse(block.text)
    assert format_source(Source("example", block.text)) == block.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_of_a_kind_that_is_executed(page: Path) -> None:
    if page.name != "language.md":
        found = {piece.tag for piece in pieces(page) if isinstance(piece, Block)}
        assert found - {"console", "qpolicy", "pycon", "toml"} == ({"checkpoint"} if page.name == "mtp.md" else set())


def test_the_settings_that_are_shown_are_settings(tmp_path: Path) -> None:
    (block,) = blocks(CHECKING, "toml")
    (tmp_path / "pyproject.toml").write_text(block.text, encoding="utf-8")
    shown = settings_near(tmp_path)
    assert set(shown.values) == set(SETTINGS)
    assert shown.selection((), ()) == Selection(("QP1", "QP2", "QP3"), ("QP102",))


def test_the_groups_of_findings_are_all_listed() -> None:
    (table,) = tables(CHECKING, "codes", "about", "found by")
    assert [codes(row[0])[0].rstrip(".") for row in table.rows] == sorted({code[:3] for code in NAMES})


def test_no_page_names_a_code_that_does_not_exist() -> None:
    for page in PAGES:
        assert set(re.findall(r"\bQP\d{3}\b", page.read_text(encoding="utf-8"))) <= {*NAMES, *REHEARSED}, page.name


def test_the_readme_lists_the_commands() -> None:
    (table,) = tables(README, "command", "does")
    assert sorted(codes(row[0])[0].split()[1] for row in table.rows) == sorted(COMMANDS)


def test_the_errors_have_the_exit_codes_that_are_listed() -> None:
    (table,) = tables(LIBRARY, "error", "`exit_code`")
    listed = {getattr(qpolicy, *codes(row[0])): int(row[1]) for row in table.rows}
    assert listed == {error: error.exit_code for error in listed}
    named = (getattr(qpolicy, name) for name in qpolicy.__all__)
    assert {one for one in named if isinstance(one, type) and issubclass(one, Exception)} == set(listed)


def test_the_makefile_has_the_targets_that_are_named() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"(?:`|^ {4}|\$ )make ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= targets, page.name
    assert {"demo", "test"} <= set(re.findall(r"^ {4}make ([a-z]+)", README.read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made from their words."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in found}
