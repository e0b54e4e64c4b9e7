"""A statement that the grammar does not accept, and what could have stood where it broke."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lark import Token

from qpolicy.lang.facts import FACTS
from qpolicy.lang.grammar import END, KEYWORDS, machine, span_of
from qpolicy.lang.source import Span
from qpolicy.lang.words import ASKERS, DECISIONS

SPELLINGS: Final[dict[str, str]] = {
    "_COLON": ":",
    "_COMMA": ",",
    "_EQ": "==",
    **{terminal: word for word, terminal in KEYWORDS.items()},
    **{word.upper(): word for word in (*DECISIONS, *ASKERS)},
    "_AS": "as",
    "_LPAR": "(",
    "_RPAR": ")",
    "_ASSIGN": "=",
}
"""What to write for a terminal that is always written the same."""

_AFTER: Final[dict[str, str]] = {
    "": "a pattern",
    "_QPOLICY": "the version `1`",
    "_LET": "a set's name",
    "_DROP": "the scope `mtp`",
    "_EQ": "a value",
    "_AS": "the scheme's name",
    "ERROR": "the reason in quotes",
    **dict.fromkeys(("_IF", "_WHEN", "_AND", "_OR", "_NOT"), "a fact"),
}
_PATTERN: Final = "a pattern"
_FACT_SIGNS: Final = frozenset({"_LPAR", "_EQ", "_IN"})


@dataclass(frozen=True, slots=True)
class Failure:
    """A statement and the index of its first token that does not fit; one past the last is the statement's end."""

    words: tuple[Token, ...]
    index: int

    @property
    def found(self) -> str:
        """The text of the token, or ``""`` at the end of the statement."""
        return self.text(self.index)

    @property
    def previous(self) -> str:
        """The text of the token before it, or ``""``."""
        return self.text(self.index - 1)

    @property
    def opening(self) -> str:
        """The text of the statement's first token."""
        return self.text(0)

    def text(self, index: int) -> str:
        """Return the text of one token, or ``""`` outside the statement."""
        return str(self.words[index]) if 0 <= index < len(self.words) else ""

    def kind(self, index: int) -> str:
        """Return the terminal of one token; ``""`` before the statement and the end terminal after it."""
        if index < 0:
            return ""
        return self.words[index].type if index < len(self.words) else END

    def span(self, index: int) -> Span:
        """Return the place of one token; the end of the statement is the place right after its last token."""
        if index < len(self.words):
            return span_of(self.words[max(index, 0)])
        last = span_of(self.words[-1])
        return Span(last.end, last.end, last.line, last.column + last.end - last.start)

    def open_paren(self) -> int | None:
        """Return the index of the innermost parenthesis that is open at the failure."""
        opened: list[int] = []
        for index, token in enumerate(self.words[: self.index]):
            if token.type == "_LPAR":
                opened.append(index)
            elif token.type == "_RPAR" and opened:
                opened.pop()
        return opened[-1] if opened else None

    def begins_line(self) -> bool:
        """Return whether the token stands on another line than the one before it."""
        return 0 < self.index < len(self.words) and self.words[self.index].line != self.words[self.index - 1].line

    def expected(self, index: int) -> frozenset[str]:
        """Return the terminals that the grammar takes at this index, which must not be past the failure."""
        accepting = machine()
        for token in self.words[:index]:
            accepting.feed_token(token)
        accepts: Callable[[], set[str]] = accepting.accepts
        return frozenset(accepts())

    def role(self) -> str:
        """Return what a word would be at the failure, such as ``a fact``."""
        before = self.kind(self.index - 1)
        paren = self.open_paren()
        if paren is not None and before in {"_LPAR", "_COMMA"}:
            opener = self.kind(paren - 1)
            return {"_IN": "a value", "WORD": "a name or pattern"}.get(opener, "a fact")
        return _AFTER.get(before, _PATTERN)


def in_words(failure: Failure, terminals: frozenset[str]) -> tuple[str, ...]:
    """Return what is expected as a person reads it, in a fixed order."""
    role = failure.role()
    possible = terminals - _impossible(failure, terminals)
    words = [role] if "WORD" in possible else []
    if "SET" in possible and role in {_PATTERN, "the scope `mtp`"}:
        words.append("a set such as `@mtp`")
    words += [f"`{SPELLINGS[name]}`" for name in SPELLINGS if name in possible]
    if END in possible:
        words.append("the end of the line")
    return tuple(words)


def _impossible(failure: Failure, terminals: frozenset[str]) -> frozenset[str]:
    """Return the terminals that the grammar takes but the meaning does not."""
    if failure.index == 0:
        return frozenset({"_QPOLICY"})
    forms = FACTS.get(failure.previous)
    if forms is None or not terminals >= {"_LPAR", "_EQ"}:
        return frozenset()
    takes = frozenset(sign for form in forms for sign in form.first_signs)
    needs_more = all(form.first_signs for form in forms)
    return (_FACT_SIGNS - takes) | (terminals - _FACT_SIGNS if needs_more else frozenset())
