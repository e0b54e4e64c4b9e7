"""What to say about a statement that the grammar does not accept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from string import Template
from typing import Final

from lark import Token

from qpolicy.lang.facts import FACTS, needed_usage, unknown_fact
from qpolicy.lang.failure import SPELLINGS, Failure, in_words
from qpolicy.lang.grammar import END, KEYWORDS
from qpolicy.lang.issue import Complaint
from qpolicy.lang.mistakes import LAST_RESORTS, MISTAKES, Mistake
from qpolicy.lang.words import did_you_mean, shown

_NAMED_BY: Final = {"", "_COMMA", "_ASSIGN", "_EXPECT", "_LET", "_LPAR", "_EQ", "_AS"}
_NAME_ENDS: Final = {"_COLON", "_COMMA", "_RPAR", "_ASSIGN"}
_NAMELESS: Final = {("_LET", "_ASSIGN"), ("_QPOLICY", "_COLON"), ("_QPOLICY", "_ASSIGN")}
_KEYWORDS: Final = frozenset(KEYWORDS.values())
_ODD_QUOTES: Final = frozenset("'`\u2018\u2019\u201c\u201d\u00ab\u00bb")


def diagnose(words: Sequence[Token], index: int) -> Complaint:
    """Say what is wrong with a statement.

    Args:
        words: Its tokens.
        index: The first token that does not fit; one past the last if the statement ends too early.

    Returns:
        The mistake, with what was expected in words of the language.
    """
    failure = Failure(tuple(words), index)
    expected = failure.expected(index)
    for explain in _EXPLANATIONS:
        complaint = explain(failure, expected)
        if complaint is not None:
            return complaint
    return _unexpected(failure, expected)


def _regex(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    """``re:`` directly before a word is how other tools mark a regular expression."""
    for index in (failure.index - 1, failure.index):
        if failure.text(index) != ":" or failure.text(index - 1) != "re":
            continue
        mark, colon, after = (failure.span(i) for i in (index - 1, index, index + 1))
        if mark.end == colon.start and colon.end == after.start:
            hint = "write whole segments: `*` is one or more of them, `**` none or more, `{0..3}` these integers"
            return Complaint("QP013", "there are no regular expressions in the language", mark, hint=hint)
    return None


def _reserved(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    """A keyword that stands where a name stands was meant as one."""
    for index in (failure.index, failure.index - 1):
        before, kind, after = (failure.kind(i) for i in (index - 1, index, index + 1))
        if (kind, after) in _NAMELESS:
            continue
        if kind in _KEYWORDS and before in _NAMED_BY and after in _NAME_ENDS:
            word = failure.text(index)
            hint = f'as a pattern or name, write it in quotes: `"{word}"`'
            return Complaint("QP013", f"`{word}` is a reserved word", failure.span(index), hint=hint)
    return None


def _typical(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    return _first_of(MISTAKES, failure, expected)


def _misspelt(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    """The word, or the one before it, is nearly a keyword that could stand there."""
    for index in (failure.index, failure.index - 1):
        if failure.kind(index) != "WORD":
            continue
        allowed = expected if index == failure.index else failure.expected(index)
        hint = did_you_mean(failure.text(index), _spellings(allowed, failure, index))
        if hint:
            code = "QP005" if failure.kind(index - 1) == "_COLON" else "QP004"
            words = in_words(Failure(failure.words, index), allowed)
            return Complaint(
                code, f"unexpected {shown(failure.text(index))}", failure.span(index), expected=words, hint=hint
            )
    return None


def _spellings(allowed: Iterable[str], failure: Failure, index: int) -> list[str]:
    words = [SPELLINGS[name] for name in allowed if SPELLINGS.get(name, "").isalpha()]
    if failure.kind(index - 1) == "_EXPECT":
        words += ["draft", "target"]
    return sorted(set(words))


def _no_fact(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    """The word before is no fact, so nothing after it could have been right."""
    if not expected >= {"_LPAR", "_EQ"} or failure.previous in FACTS:
        return None
    return unknown_fact(failure.words[failure.index - 1])


def _odd_quotes(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    for index in (failure.index, failure.index - 1):
        if failure.kind(index) == "WORD" and _ODD_QUOTES & set(failure.text(index)):
            hint = 'quotes are written `"`'
            return Complaint("QP002", "these are not the language's quotes", failure.span(index), hint=hint)
    return None


def _odd_space(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    character = failure.found
    if not character.isspace():
        return None
    message = f"the character U+{ord(character):04X} is not a plain space"
    return Complaint("QP002", message, failure.span(failure.index), hint="write a space")


def _last_resort(failure: Failure, expected: frozenset[str]) -> Complaint | None:
    return _first_of(LAST_RESORTS, failure, expected)


def _unexpected(failure: Failure, expected: frozenset[str]) -> Complaint:
    at_end = failure.kind(failure.index) == END
    message = "the statement ends too early" if at_end else f"unexpected {shown(failure.found)}"
    return Complaint("QP004", message, failure.span(failure.index), expected=in_words(failure, expected))


_EXPLANATIONS: Final[tuple[Callable[[Failure, frozenset[str]], Complaint | None], ...]] = (
    _odd_space,
    _regex,
    _reserved,
    _typical,
    _misspelt,
    _odd_quotes,
    _no_fact,
    _last_resort,
)
"""Tried in this order; the first that has something to say is heard."""


def _first_of(rows: Iterable[Mistake], failure: Failure, expected: frozenset[str]) -> Complaint | None:
    texts = _texts(failure)
    for row in rows:
        if _fits(row, failure, expected) and ("$usage" not in (row.hint or "") or "usage" in texts):
            message = Template(row.message).safe_substitute(texts)
            hint = Template(row.hint).safe_substitute(texts) if row.hint else None
            return Complaint(
                row.code, message, failure.span(_place(row, failure)), expected=in_words(failure, expected), hint=hint
            )
    return None


def _fits(row: Mistake, failure: Failure, expected: frozenset[str]) -> bool:
    def among(options: tuple[str, ...], index: int) -> bool:
        return (
            not options
            or failure.kind(index) in options
            or (index < len(failure.words) and failure.text(index) in options)
        )

    return (
        among(row.found, failure.index)
        and among(row.after, failure.index - 1)
        and among(row.within, 0)
        and (not row.expects or row.expects in expected)
        and row.paren in (None, failure.open_paren() is not None)
        and row.begins_line in (None, failure.begins_line())
    )


def _place(row: Mistake, failure: Failure) -> int:
    paren = failure.open_paren()
    places = {"found": failure.index, "previous": failure.index - 1, "opening": 0}
    return places.get(row.at, failure.index if paren is None else paren)


def _texts(failure: Failure) -> dict[str, str]:
    paren = failure.open_paren()
    name = failure.previous if paren is None or failure.previous != "(" else failure.text(paren - 1)
    usage = needed_usage(name)
    texts = {"found": failure.found, "previous": failure.previous, "opening": failure.opening}
    clipped = {key: shown(text)[1:-1] for key, text in texts.items()}
    return clipped | ({"usage": usage} if usage else {})
