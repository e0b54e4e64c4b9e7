"""The tables that lie beside the grammar are its own, and the parser made of them is the one made of the grammar."""

from __future__ import annotations

import json
from pathlib import Path

import lark
import pytest

from qpolicy.lang import Source, grammar, parse
from qpolicy.lang.issue import PolicySyntaxError

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "grammar" / grammar.TABLES
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("policies/*.qpolicy"))]
TEXTS += (Path(__file__).with_name("malformed.txt").read_text(encoding="utf-8")).split("\n---\n")


def test_the_tables_are_those_of_this_grammar() -> None:
    found = json.loads(TABLES.read_text(encoding="utf-8"))
    assert found["grammar"] == grammar.fingerprint(), "run scripts/make_parser_tables.py"
    if found["lark"] == lark.__version__:
        assert grammar.from_tables() is not None


def answer(text: str) -> object:
    try:
        return parse(Source("model.qpolicy", text))
    except PolicySyntaxError as error:
        return str(error)


def test_both_parsers_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    made = grammar.grammar()
    answers = [answer(text) for text in TEXTS]
    fresh = grammar.built()
    monkeypatch.setattr(grammar, "grammar", lambda: fresh)
    assert made is not fresh
    assert [answer(text) for text in TEXTS] == answers


@pytest.mark.parametrize("content", [None, "{", '{"lark": "0", "grammar": 0}'])
def test_without_tables_that_fit_the_grammar_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    (tmp_path / "qpolicy.lark").write_bytes((ROOT / "grammar" / "qpolicy.lark").read_bytes())
    if content is not None:
        (tmp_path / grammar.TABLES).write_text(content)
    monkeypatch.setattr(grammar, "shipped", lambda folder: tmp_path)
    assert grammar.from_tables() is None
    assert list(grammar.built().lex("qpolicy 1"))
