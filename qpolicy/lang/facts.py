"""The facts that a condition may ask about: one table of their shapes, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lark import Token

from qpolicy.lang.grammar import span_of
from qpolicy.lang.issue import Complaint
from qpolicy.lang.selector import plain_word, selector
from qpolicy.lang.source import Span
from qpolicy.lang.tree import About, DtypeIs, Fact, Flag, Has, Is, PathIn
from qpolicy.lang.words import DTYPE_ALIASES, DTYPES, KINDS, did_you_mean, nearest, shown

Arguments: TypeAlias = Literal["", "tensors", "tensor", "selector"]
Compared: TypeAlias = Literal["", "dtype", "kind", "text", "path"]


@dataclass(frozen=True, slots=True)
class Written:
    """A fact as it stands in the text.

    Attributes:
        name: The token before any parenthesis.
        arguments: The tokens in parentheses, or None without parentheses.
        values: The tokens after ``==`` or ``in``, or None without a comparison.
        operator: ``""``, ``"=="``, ``"in"`` or ``"in ()"``.
        span: The whole fact.
    """

    name: Token
    arguments: tuple[Token, ...] | None
    values: tuple[Token, ...] | None
    operator: str
    span: Span


Build: TypeAlias = Callable[[Written], Fact]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a fact: what is in its parentheses, what it is compared with, and the node it becomes."""

    usage: str
    arguments: Arguments
    compared: Compared
    build: Build

    @property
    def first_signs(self) -> tuple[str, ...]:
        """The terminals that may follow the fact's name."""
        if self.arguments:
            return ("_LPAR",)
        return {"": (), "path": ("_IN",)}.get(self.compared, ("_EQ", "_IN"))


def _flag(fact: Written) -> Fact:
    return Flag(fact.name.value, span=fact.span)


def _has(fact: Written) -> Fact:
    return Has(tuple(_tensor(token) for token in fact.arguments or ()), span=fact.span)


def _about(fact: Written) -> Fact:
    return About(fact.name.value, selector(_only(fact, "pattern")), span=fact.span)


def _dtype(fact: Written) -> Fact:
    tensor = _tensor(_only(fact, "tensor"))
    return DtypeIs(tensor, tuple(_listed(token, DTYPES, "dtype") for token in fact.values or ()), span=fact.span)


def _kind(fact: Written) -> Fact:
    return Is("kind", tuple(_listed(token, KINDS, "kind") for token in fact.values or ()), span=fact.span)


def _text(fact: Written) -> Fact:
    return Is(fact.name.value, tuple(plain_word(token, "value") for token in fact.values or ()), span=fact.span)


def _path(fact: Written) -> Fact:
    return PathIn(tuple(selector(token) for token in fact.values or ()), span=fact.span)


def _flag_form(name: str) -> Form:
    return Form(name, "", "", _flag)


def _about_form(name: str) -> Form:
    return Form(f"{name}(PATTERN)", "selector", "", _about)


def _text_form(name: str, example: str) -> Form:
    return Form(f"{name} == {example}", "", "text", _text)


FACTS: dict[str, tuple[Form, ...]] = {
    "draft": (_flag_form("draft"),),
    "target": (_flag_form("target"),),
    "has": (Form("has(weight_packed)", "tensors", "", _has),),
    "quantized_on_disk": (_flag_form("quantized_on_disk"), _about_form("quantized_on_disk")),
    "unquantized_on_disk": (_about_form("unquantized_on_disk"),),
    "dtype": (Form("dtype(weight) == bf16", "tensor", "dtype", _dtype),),
    "excluded": (_flag_form("excluded"), _about_form("excluded")),
    "exists": (_about_form("exists"),),
    "kind": (Form("kind == moe", "", "kind", _kind),),
    "method": (_text_form("method", "fp8"),),
    "format": (_text_form("format", "pack-quantized"),),
    "arch": (_text_form("arch", '"Qwen3NextForCausalLM"'),),
    "engine": (_text_form("engine", "sglang"),),
    "path": (Form("path in PATTERN", "", "path", _path),),
}
"""Every fact by its name, with the ways to write it."""


def fact(written: Written) -> Fact:
    """Turn a fact as written into its node.

    Raises:
        Complaint: The name is no fact, the fact is written in another way, or a value is not one it can have.
    """
    name = written.name.value
    forms = FACTS.get(name)
    if forms is None:
        raise unknown_fact(written.name)
    for form in forms:
        if _fits(form, written):
            return form.build(written)
    raise Complaint("QP007", f"{_misfit(forms, written)}", written.span, hint=f"write {usage(name)}")


def unknown_fact(token: Token) -> Complaint:
    """Return the complaint that a word is no fact."""
    name = token.value
    hint = did_you_mean(name, FACTS)
    if hint is None and ("." in name or "*" in name):
        hint = f"to ask about the module's name, write `path in {name}`"
    elif hint is None and (name.startswith('"') or name in {*KINDS, *DTYPES}):
        hint = "to compare with several values, write `in (X, Y)`"
    expected = () if hint else tuple(FACTS)
    return Complaint("QP006", f"there is no fact {shown(name)}", span_of(token), expected=expected, hint=hint)


def usage(name: str) -> str:
    """Return how a fact is written, for a hint."""
    return " or ".join(f"`{form.usage}`" for form in FACTS[name])


def needed_usage(name: str) -> str | None:
    """Return how a fact is written if it needs more than its name; None for other facts and other words."""
    forms = FACTS.get(name, ())
    needs_more = bool(forms) and all(form.arguments or form.compared for form in forms)
    return usage(name) if needs_more else None


def _fits(form: Form, written: Written) -> bool:
    operators = {"": ("",), "path": ("in", "in ()")}.get(form.compared, ("==", "in ()"))
    return (written.arguments is not None) == bool(form.arguments) and written.operator in operators


def _misfit(forms: Iterable[Form], written: Written) -> str:
    name = f"`{written.name.value}`"
    if all(form.arguments for form in forms) and written.arguments is None:
        return f"{name} needs something in parentheses"
    if not any(form.arguments for form in forms) and written.arguments is not None:
        return f"{name} takes nothing in parentheses"
    if not any(form.compared for form in forms):
        return f"{name} is true or false and is not compared"
    if written.operator == "in":
        return "the values after `in` stand in parentheses"
    return f"{name} must be compared with `in`" if written.operator else f"{name} must be compared with something"


def _only(written: Written, what: str) -> Token:
    tokens = written.arguments or ()
    if len(tokens) == 1:
        return tokens[0]
    hint = f"name the patterns with `let NAME = ...` and write `{written.name.value}(@NAME)`"
    if what == "tensor":
        hint = "ask about each tensor on its own and join the answers with `and`"
    raise Complaint("QP007", f"`{written.name.value}` takes one {what}", span_of(tokens[1]), hint=hint)


def _tensor(token: Token) -> str:
    name = plain_word(token, "tensor's name")
    if "." in name:
        hint = f"write only its last part, `{name.rpartition('.')[2]}`"
        raise Complaint("QP008", f"{shown(name)} is not a tensor's own name", span_of(token), hint=hint)
    return name


def _listed(token: Token, known: tuple[str, ...], what: str) -> str:
    value = plain_word(token, what)
    if value in known:
        return value
    meant = DTYPE_ALIASES.get(value.lower()) if what == "dtype" else None
    meant = meant or nearest(value, known)
    hint = f"did you mean `{meant}`?" if meant else None
    raise Complaint("QP008", f"there is no {what} {shown(value)}", span_of(token), expected=known, hint=hint)
