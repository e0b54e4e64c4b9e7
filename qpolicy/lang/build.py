"""From the grammar's parse tree to the nodes of :mod:`qpolicy.lang.tree`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, cast

from lark import Token, Tree

from qpolicy.lang import tree
from qpolicy.lang.facts import Written, fact
from qpolicy.lang.grammar import span_of
from qpolicy.lang.issue import Complaint
from qpolicy.lang.selector import plain_word, selector, set_name
from qpolicy.lang.source import Span
from qpolicy.lang.words import shown

Parsed = Tree[Token]

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_QUOTED = re.compile(r'"[^"]*"')


def build(parsed: Parsed) -> tree.Statement:
    """Turn the parse tree of one statement into its node.

    Raises:
        Complaint: The statement fits the grammar, but a word in it does not fit its place.
    """
    return _STATEMENTS[parsed.data](parsed)


def _span(parsed: Parsed) -> Span:
    meta = parsed.meta
    return Span(meta.start_pos, meta.end_pos, meta.line, meta.column)


def _children(parsed: Parsed) -> list[Any]:
    return cast("list[Any]", parsed.children)


def _version(parsed: Parsed) -> tree.Version:
    (number,) = _children(parsed)
    if not _NUMBER.fullmatch(number):
        message = f"{shown(number)} is not a version of the language"
        raise Complaint("QP003", message, span_of(number), hint="write `qpolicy 1`")
    return tree.Version(int(number), span=_span(parsed))


def _let(parsed: Parsed) -> tree.Let:
    name, selectors = _children(parsed)
    return tree.Let(set_name(name), _selectors(selectors), span=_span(parsed), name_span=span_of(name))


def _drop(parsed: Parsed) -> tree.Drop:
    token, asked = _children(parsed)
    return tree.Drop(_scope(token), _condition(asked), span=_span(parsed))


def _scope(token: Token) -> tree.SetRef:
    if token == "mtp":
        return tree.SetRef("mtp", None, span=span_of(token))
    scope = selector(token)
    if isinstance(scope, tree.SetRef) and scope.rest is None:
        return scope
    hint = f"name the scope with `let NAME = {token}` and write `drop @NAME if ...`"
    if isinstance(scope, tree.PatternRef) and token.isidentifier():
        hint = "write `drop mtp if ...`" if token == "draft" else f"write `drop @{token} if ...`"
    raise Complaint("QP004", f"a drop's scope is `mtp` or a set, not {shown(token)}", span_of(token), hint=hint)


def _rule(parsed: Parsed) -> tree.Rule:
    selectors, asked, decision = _children(parsed)
    condition = None if asked is None else _condition(asked)
    return tree.Rule(_selectors(selectors), condition, _decision(decision), span=_span(parsed))


def _rule_everywhere(parsed: Parsed) -> tree.Rule:
    asked, decision = _children(parsed)
    return tree.Rule((), _condition(asked), _decision(decision), span=_span(parsed))


def _otherwise(parsed: Parsed) -> tree.Otherwise:
    (decision,) = _children(parsed)
    return tree.Otherwise(_decision(decision), span=_span(parsed))


def _expect(parsed: Parsed) -> tree.Expect:
    asker, selected, outcome = _children(parsed)
    return tree.Expect(
        cast("tree.Asker | None", asker and str(asker)),
        selector(selected),
        cast(tree.Outcome, str(outcome)),
        span=_span(parsed),
    )


_STATEMENTS: Final[dict[str, Callable[[Parsed], tree.Statement]]] = {
    "version": _version,
    "let": _let,
    "drop": _drop,
    "rule": _rule,
    "rule_everywhere": _rule_everywhere,
    "otherwise": _otherwise,
    "expect": _expect,
}


def _selectors(parsed: Parsed) -> tuple[tree.Selector, ...]:
    return tuple(selector(token) for token in _children(parsed))


def _decision(parsed: Parsed) -> tree.DecisionNode:
    action, *rest = _children(parsed)
    detail: Token | None = rest[0] if rest else None
    scheme = plain_word(detail, "scheme's name") if action == "quantized" and detail is not None else None
    reason = _reason(cast(Token, detail)) if action == "error" else None
    return tree.DecisionNode(cast(tree.Action, str(action)), scheme, reason, span=_span(parsed))


def _reason(token: Token) -> str:
    if not _QUOTED.fullmatch(token):
        hint = f'write `error "{token}"`' if '"' not in token else "write the reason as one text in straight quotes"
        raise Complaint("QP005", "the reason of an error is a text in quotes", span_of(token), hint=hint)
    return str(token[1:-1])


def _condition(parsed: Parsed) -> tree.Condition:
    """Build a condition; its depth was limited before (:func:`qpolicy.lang.layout.check_nesting`)."""
    if parsed.data == "fact":
        return fact(_written(parsed))
    parts = tuple(_condition(part) for part in _children(parsed))
    if parsed.data == "not_":
        return tree.Not(parts[0], span=_span(parsed))
    return (tree.And if parsed.data == "and_" else tree.Or)(parts, span=_span(parsed))


_OPERATORS: Final = {"equals": "==", "among_bare": "in", "among": "in ()"}


def _written(parsed: Parsed) -> Written:
    name, arguments, compared = _children(parsed)
    return Written(
        name,
        None if arguments is None else tuple(_children(arguments)),
        None if compared is None else tuple(_children(compared)),
        "" if compared is None else _OPERATORS[compared.data],
        _span(parsed),
    )
