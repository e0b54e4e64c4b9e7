"""Words of the text as selectors, names and values."""

from __future__ import annotations

import re

from lark import Token

from qpolicy.lang.grammar import span_of
from qpolicy.lang.issue import Complaint
from qpolicy.lang.tree import PatternRef, Selector, SetRef
from qpolicy.lang.words import RESERVED, shown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_QUOTED = re.compile(r'"([^"]*)"')
_SET = re.compile(r'@(?P<name>"[^"]*"|[^."]+)(?:\.(?P<rest>.+))?', re.DOTALL)
_LOOSE = re.compile(r'["{}*?]')


def selector(token: Token) -> Selector:
    """Turn a WORD or SET token into a pattern or a reference to a set; a pattern's inside is not looked at.

    Raises:
        Complaint: What follows the ``@`` is not a set's name, alone or with a dot and a pattern after it.
    """
    if token.type == "WORD":
        return PatternRef(token.value, span=span_of(token))
    return set_ref(token)


def set_ref(token: Token) -> SetRef:
    """Turn a SET token into a reference. The text of ``rest`` always ends where the token ends."""
    found = _SET.fullmatch(token.value)
    if found is None:
        hint = "write `@NAME`, or `@NAME.rest` to continue the set's patterns"
        raise Complaint("QP010", f"{shown(token.value)} does not name a set", span_of(token), hint=hint)
    return SetRef(_set_name(found["name"], token), found["rest"], span=span_of(token))


def set_name(token: Token) -> str:
    """Return the name that a ``let`` gives, without the quotes that a reserved word needs."""
    return _set_name(token.value, token)


def _set_name(text: str, token: Token) -> str:
    quoted = _QUOTED.fullmatch(text)
    name = quoted[1] if quoted else text
    if not quoted and name in RESERVED:
        hint = f'as a name, write it in quotes: `"{name}"`'
        raise Complaint("QP010", f"`{name}` is a reserved word", span_of(token), hint=hint)
    if not _NAME.fullmatch(name):
        hint = "use letters, digits, `_` and `-`, with a letter or `_` first"
        raise Complaint("QP010", f"{shown(name)} cannot be a set's name", span_of(token), hint=hint)
    return name


def plain_word(token: Token, what: str) -> str:
    """Return a name or value, bare or in quotes, without the quotes.

    Args:
        token: A WORD or SET token.
        what: What it should be, for the message.

    Raises:
        Complaint: It is a set, holds wildcards or braces outside quotes, or is quoted only in part or empty.
    """
    quoted = _QUOTED.fullmatch(token.value)
    if quoted and quoted[1]:
        return quoted[1]
    if token.type == "SET" or _LOOSE.search(token.value):
        hint = "it is compared whole, so it has no wildcards and no braces; list several, or quote the text"
        raise Complaint("QP008", f"{shown(token.value)} is not a {what}", span_of(token), hint=hint)
    return str(token.value)
