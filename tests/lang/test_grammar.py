"""The grammar is unambiguous, and the tables beside it agree with it."""

from __future__ import annotations

import logging
import subprocess
import sys

import lark
import pytest

from qpolicy.lang.codes import CODES
from qpolicy.lang.facts import FACTS
from qpolicy.lang.failure import SPELLINGS
from qpolicy.lang.grammar import KEYWORDS, _KeepTokens, grammar
from qpolicy.resources import shipped


def conflicts(grammar_text: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """What lark says, in debug mode, about conflicts that it settles by itself."""
    level = lark.logger.level
    lark.logger.setLevel(logging.DEBUG)
    lark.logger.addHandler(caplog.handler)
    try:
        lark.Lark(grammar_text, parser="lalr", lexer="basic", postlex=_KeepTokens(), debug=True)
    finally:
        lark.logger.removeHandler(caplog.handler)
        lark.logger.setLevel(level)
    return [record.getMessage() for record in caplog.records if "onflict" in record.getMessage()]


def test_the_grammar_is_lalr_without_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    text = (shipped("grammar") / "qpolicy.lark").read_text(encoding="utf-8")
    assert conflicts(text, caplog) == []
    ambiguous = text.replace("(_AND negation)+", "(_AND condition)+")
    assert ambiguous != text and conflicts(ambiguous, caplog)


def test_every_keyword_and_sign_of_the_grammar_has_a_spelling() -> None:
    names = {terminal.name for terminal in grammar().terminals}
    assert {name for name in names if name.startswith("_") and not name.startswith("__")} <= set(SPELLINGS)
    assert set(KEYWORDS.values()) <= set(SPELLINGS)


def test_codes_are_in_order_and_named_once() -> None:
    assert [code.code for code in CODES] == [f"QP{number:03}" for number in range(1, len(CODES) + 1)]
    assert len({code.name for code in CODES}) == len(CODES)


def test_every_fact_says_how_it_is_written() -> None:
    for name, forms in FACTS.items():
        assert all(form.usage.startswith(name) for form in forms)


def test_importing_the_room_does_not_build_the_parser() -> None:
    code = "import qpolicy.lang.grammar as g; assert g.grammar.cache_info().currsize == 0"
    subprocess.run([sys.executable, "-c", code], check=True)
