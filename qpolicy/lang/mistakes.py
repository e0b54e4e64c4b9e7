"""Typical mistakes in a statement, each with what to say about it: two tables that are searched from the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from qpolicy.lang.grammar import END

Place: TypeAlias = Literal["found", "previous", "opening", "paren"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One kind of malformed statement. A condition that is left out always holds.

    A token is given by its text or by its terminal. In ``message`` and ``hint``, ``$found``, ``$previous`` and
    ``$opening`` stand for those tokens' texts and ``$usage`` for how the fact at hand is written; a row whose
    ``$usage`` is not known does not fit.

    Attributes:
        example: A statement that is wrong in this way.
        code: The error's code.
        message: What is wrong.
        hint: What to do about it.
        found: The token that does not fit.
        after: The token before it; ``""`` where it begins the statement.
        within: The token that begins the statement.
        expects: A terminal that the grammar would have taken instead.
        paren: Whether a parenthesis is open.
        begins_line: Whether the token is the first of its line.
        at: Where the mistake is shown.
    """

    example: str
    code: str
    message: str
    hint: str | None = None
    found: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    expects: str = ""
    paren: bool | None = None
    begins_line: bool | None = None
    at: Place = "found"


_DECIDED: Final = ("UNQUANTIZED", "QUANTIZED", "NATIVE", "ERROR")
_SPELLED: Final = ("unquantized", "quantized", "native", "error")
_PLAIN: Final = (
    "bf16",
    "f16",
    "fp16",
    "plain",
    "skip",
    "ignore",
    "ignored",
    "exclude",
    "excluded",
    "keep",
    "none",
    "false",
)
_OPEN: Final = "the parenthesis is not closed"
_OPEN_HINT: Final = "add `)`; inside parentheses a statement goes on over line ends"
_GOES_ON: Final = "end the line before with `$found`: a line that ends so goes on in the next"

_STRAY: Final = (
    Mistake(
        'a: error "why', "QP002", "the quote is not closed", 'put `"` at its end, on the same line', ("OPEN_QUOTE",)
    ),
    Mistake(
        "mlp.{q,k: native", "QP002", "the brace is not closed", "write `{a,b}`; braces do not nest", ("OPEN_BRACE",)
    ),
    Mistake("mlp.q}: native", "QP002", "the brace was not opened", "write `{a,b}`; braces do not nest", ("}",)),
    Mistake("a; b: native", "QP002", "`;` is not in the language", "begin a new line for each statement", (";",)),
    Mistake("@ a: native", "QP002", "no set's name follows `@`", "write `@NAME` without a space", ("@",)),
    Mistake(
        "!a: native", "QP002", "patterns have no `!`", "decide these modules by a rule above", ("!",), ("", "_COMMA")
    ),
    Mistake("when !draft: native", "QP002", "`!` is not in the language", "write `not`", ("!",)),
    Mistake("when draft && excluded: native", "QP002", "`&&` is not in the language", "write `and`", ("&&", "&")),
    Mistake("when draft || excluded: native", "QP002", "`||` is not in the language", "write `or`", ("||", "|")),
    Mistake(
        "when kind != moe: native", "QP002", "`!=` is not in the language", "write `not ... == ...`", ("!=", "!==")
    ),
    Mistake("when kind === moe: native", "QP002", "`===` is not in the language", "write `==`", ("===",)),
    Mistake("a => native", "QP002", "`$found` is not in the language", "write `:`", ("=>", "->"), expects="_COLON"),
    Mistake(
        "let a := b", "QP002", "`$found` is not in the language", "write `=`", (":=", "=>", "->"), expects="_ASSIGN"
    ),
    Mistake("when kind >= moe: native", "QP002", "`$found` is not in the language", "write `==` or `in`", ("FOREIGN",)),
)

_VERSION: Final = (
    Mistake("qpolicy", "QP003", "the version is missing", "write `qpolicy 1`", (END,), ("_QPOLICY",)),
    Mistake(
        "qpolicy: 1",
        "QP003",
        "the version's line holds the word `qpolicy` and a number",
        'write `qpolicy 1`; as a pattern, the word is written `"qpolicy"`',
        within=("_QPOLICY",),
    ),
)

_SIGNS: Final = (
    Mistake("when kind = moe: native", "QP004", "a comparison is written `==`", "write `==`", ("=",), expects="_EQ"),
    Mistake("when kind is moe: native", "QP004", "a comparison is written `==`", "write `==`", ("is",), expects="_EQ"),
    Mistake(
        "let a == b", "QP004", "a set is named with `=`", "write `let $previous = ...`", ("==", ":"), expects="_ASSIGN"
    ),
    Mistake(
        "a = native",
        "QP004",
        "a rule has a colon before its decision",
        "write `PATTERNS: DECISION` for a rule, `let NAME = PATTERNS` for a set",
        ("=", "=="),
        expects="_COLON",
    ),
    Mistake(
        "a native",
        "QP005",
        "there is no colon before the decision",
        "write `: $found`",
        _SPELLED,
        expects="_COLON",
    ),
)

_PARENTHESES: Final = (
    Mistake("when draft): native", "QP004", "the parenthesis was not opened", "remove it", (")",), paren=False),
    Mistake("when (draft: native", "QP004", _OPEN, _OPEN_HINT, (":", END), (), (), "_RPAR", True, at="paren"),
    Mistake("a when path in (a\nb: native", "QP004", _OPEN, _OPEN_HINT, (), (), (), "_RPAR", True, True, "paren"),
    Mistake("when has(): native", "QP007", "nothing stands in the parentheses", "write $usage", (")",), ("(",)),
    Mistake("when draft(): native", "QP004", "nothing stands in the parentheses", None, (")",), ("(",)),
)

_LISTS: Final = (
    Mistake(
        "a, b,",
        "QP004",
        "nothing follows `$previous`",
        "remove it, or go on in the next line",
        (END,),
        (",", "and", "or", "not"),
        at="previous",
    ),
    Mistake("a,, b: native", "QP004", "nothing stands between two commas", "remove one", (",",), (",",)),
    Mistake(
        "a, b,: native",
        "QP004",
        "a list does not end in a comma",
        "remove the comma",
        (":", ")", "when"),
        (",",),
        at="previous",
    ),
    Mistake(
        "and draft: native", "QP004", "a statement cannot begin with `$found`", _GOES_ON, ("and", "or", ","), ("",)
    ),
    Mistake(
        "when draft, excluded: native",
        "QP004",
        "conditions are joined by words",
        "write `and` or `or`",
        (",",),
        expects="_AND",
    ),
    Mistake(
        "when path not in a: native",
        "QP004",
        "`not` stands before the fact",
        "write `not $previous in ...`",
        ("_NOT",),
        expects="_IN",
    ),
)

_DROP: Final = (
    Mistake(
        "drop mtp when draft",
        "QP004",
        "a drop's condition begins with `if`",
        "write `drop $previous if ...`",
        ("when",),
        (),
        ("_DROP",),
        "_IF",
    ),
    Mistake(
        "drop mtp, @a if draft",
        "QP004",
        "a drop has one scope",
        "write a `drop` for each, or name a set",
        (",",),
        (),
        ("_DROP",),
        "_IF",
    ),
    Mistake(
        "drop mtp",
        "QP004",
        "a drop has a condition",
        "write `drop $previous if ...`",
        (END, ":"),
        (),
        ("_DROP",),
        "_IF",
    ),
    Mistake(
        "drop mtp if draft: native",
        "QP004",
        "a drop has no decision",
        "end the line after the condition",
        (":",),
        (),
        ("_DROP",),
        END,
    ),
)

_LET: Final = (
    Mistake(
        "let @a = b",
        "QP010",
        "a set gets its name without `@`",
        "write `let NAME = ...`; `@NAME` uses it",
        ("SET",),
        ("_LET",),
    ),
    Mistake(
        "let a b",
        "QP004",
        "no `=` follows the set's name",
        "write `let $previous = ...`",
        ("WORD", "SET", END),
        (),
        ("_LET",),
        "_ASSIGN",
    ),
    Mistake(
        "let a = b when draft",
        "QP004",
        "a set has no condition",
        "put the condition into the rule that uses the set",
        ("when",),
        (),
        ("_LET",),
    ),
    Mistake(
        "let a = b: native",
        "QP004",
        "a set has no decision",
        "write a rule: `@NAME: DECISION`",
        (":",),
        (),
        ("_LET",),
        END,
    ),
)

_EXPECT: Final = (
    Mistake(
        "expect a: native",
        "QP005",
        "`native` is no outcome",
        "write what it resolves to",
        ("NATIVE",),
        (),
        ("_EXPECT",),
    ),
    Mistake(
        "expect a when draft: error",
        "QP004",
        "an expectation has no condition",
        "write `expect draft PATTERN: ...` or `expect target PATTERN: ...`",
        ("when",),
        (),
        ("_EXPECT",),
    ),
    Mistake(
        "expect mtp a: error",
        "QP004",
        "only `draft` or `target` can stand before the pattern of an expectation",
        "write `expect draft $found: ...`",
        ("WORD",),
        ("mtp",),
        ("_EXPECT",),
        "_COLON",
    ),
    Mistake(
        "expect a, b: error",
        "QP004",
        "an expectation has one pattern",
        "write an `expect` for each",
        (",",),
        (),
        ("_EXPECT",),
    ),
    Mistake(
        'expect a: error "b"',
        "QP004",
        "an expectation names no reason",
        "end the line after `error`",
        ("WORD",),
        ("ERROR",),
        ("_EXPECT",),
    ),
    Mistake(
        "expect a",
        "QP005",
        "the outcome is missing",
        "add `: unquantized` or another outcome",
        (END,),
        (),
        ("_EXPECT",),
        "_COLON",
    ),
)

_RULE: Final = (
    Mistake(
        "otherwise when draft: native",
        "QP004",
        "`otherwise` has no condition",
        "write `when CONDITION: DECISION` above it",
        ("when",),
        (),
        ("_OTHERWISE",),
    ),
    Mistake("if draft: native", "QP004", "a rule's condition begins with `when`", "write `when`", ("if",), ("",)),
    Mistake(
        "a if draft: native", "QP004", "a rule's condition begins with `when`", "write `when`", ("if",), expects="_WHEN"
    ),
    Mistake(
        "a unless draft: native",
        "QP004",
        "`unless` is not in the language",
        "write `when not ...`",
        ("unless",),
        expects="_WHEN",
    ),
    Mistake(
        "not draft: native", "QP004", "a rule's condition begins with `when`", "write `when not ...`", ("not",), ("",)
    ),
    Mistake(
        "a: native when draft",
        "QP004",
        "the condition stands before the colon",
        "write `PATTERNS when CONDITION: DECISION`",
        ("when",),
        expects=END,
    ),
    Mistake("a: skip", "QP005", "there is no decision `$found`", "did you mean `unquantized`?", _PLAIN, ("_COLON",)),
    Mistake("a:", "QP005", "the decision is missing", "add `unquantized` or another decision", (END,), ("_COLON",)),
    Mistake(
        "when draft",
        "QP005",
        "the rule has no decision",
        "add `: unquantized` or another decision",
        (END,),
        expects="_COLON",
    ),
    Mistake(
        "a: error", "QP005", "the reason of the error is missing", 'write `error "why"`', (), ("ERROR",), expects="WORD"
    ),
    Mistake(
        "a: quantized w4",
        "QP005",
        "a scheme is named with `as`",
        "write `quantized as $found`",
        ("WORD",),
        ("QUANTIZED",),
    ),
    Mistake(
        "a: native as w4", "QP005", "only `quantized` takes a scheme", "write `quantized as NAME`", ("as",), _DECIDED
    ),
    Mistake(
        "a: native b: native",
        "QP004",
        "a second statement stands in this line",
        "begin a new line for it",
        ("WORD", "SET"),
        _DECIDED,
    ),
    Mistake(
        "when has weight_packed: native",
        "QP007",
        "`$previous` stands with nothing",
        "write $usage",
        ("WORD", "SET"),
        expects="_LPAR",
    ),
)

MISTAKES: Final[tuple[Mistake, ...]] = (
    *_STRAY,
    *_VERSION,
    *_SIGNS,
    *_PARENTHESES,
    *_LISTS,
    *_DROP,
    *_LET,
    *_EXPECT,
    *_RULE,
)
"""Searched first."""

LAST_RESORTS: Final[tuple[Mistake, ...]] = (
    Mistake(
        "a b: native",
        "QP004",
        "no comma stands between the patterns",
        "write one; a name that holds a space stands in quotes",
        ("WORD", "SET"),
        expects="_COMMA",
        paren=False,
    ),
    Mistake("a: rubbish", "QP005", "there is no decision `$found`", None, ("WORD",), ("_COLON",)),
)
"""Searched when no misspelt word explains the failure."""
