"""Each construct becomes its node, with the place it was read from."""

from __future__ import annotations

import pytest

from qpolicy.lang import PolicySyntaxError, Source, Span, parse
from qpolicy.lang.tree import (
    About,
    And,
    Condition,
    DecisionNode,
    Drop,
    DtypeIs,
    Expect,
    Flag,
    Has,
    Is,
    Let,
    Not,
    Or,
    Otherwise,
    PathIn,
    PatternRef,
    Rule,
    SetRef,
    Statement,
    Version,
)
from qpolicy.lang.walk import facts_of

NOWHERE = Span(0, 0, 1, 1)
DRAFT = Flag("draft", span=NOWHERE)
TARGET = Flag("target", span=NOWHERE)
EXCLUDED = Flag("excluded", span=NOWHERE)
A = PatternRef("a", span=NOWHERE)
MTP = SetRef("mtp", None, span=NOWHERE)
NATIVE = DecisionNode("native", span=NOWHERE)


def statement(text: str) -> Statement:
    return parse(Source("p", f"qpolicy 1\n{text}\nlet s = x.**")).statements[1]


def condition(text: str) -> Condition:
    rule = statement(f"when {text}: native")
    assert isinstance(rule, Rule) and rule.condition is not None
    return rule.condition


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("let t = a, @mtp", Let("t", (A, MTP), span=NOWHERE, name_span=NOWHERE)),
        ('let "drop" = a', Let("drop", (A,), span=NOWHERE, name_span=NOWHERE)),
        ("drop mtp if draft", Drop(MTP, DRAFT, span=NOWHERE)),
        ("drop @mtp if draft", Drop(MTP, DRAFT, span=NOWHERE)),
        ("a: native", Rule((A,), None, NATIVE, span=NOWHERE)),
        ("a, @mtp when draft: native", Rule((A, MTP), DRAFT, NATIVE, span=NOWHERE)),
        ("when draft: native", Rule((), DRAFT, NATIVE, span=NOWHERE)),
        ("otherwise: native", Otherwise(NATIVE, span=NOWHERE)),
        ("expect a: error", Expect(None, A, "error", span=NOWHERE)),
        ("expect draft a: quantized", Expect("draft", A, "quantized", span=NOWHERE)),
        ("expect target @mtp: unquantized", Expect("target", MTP, "unquantized", span=NOWHERE)),
        ("expect draft: quantized", Expect(None, PatternRef("draft", span=NOWHERE), "quantized", span=NOWHERE)),
    ],
)
def test_statements(text: str, node: Statement) -> None:
    assert statement(text) == node


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("unquantized", DecisionNode("unquantized", span=NOWHERE)),
        ("quantized", DecisionNode("quantized", span=NOWHERE)),
        ("quantized as group_0", DecisionNode("quantized", scheme="group_0", span=NOWHERE)),
        ('quantized as "native, or so"', DecisionNode("quantized", scheme="native, or so", span=NOWHERE)),
        ("quantized as native", DecisionNode("quantized", scheme="native", span=NOWHERE)),
        ('error "why: # (a, b)"', DecisionNode("error", reason="why: # (a, b)", span=NOWHERE)),
        ('error ""', DecisionNode("error", reason="", span=NOWHERE)),
    ],
)
def test_decisions(text: str, node: DecisionNode) -> None:
    assert statement(f"otherwise: {text}") == Otherwise(node, span=NOWHERE)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("has(a, b)", Has(("a", "b"), span=NOWHERE)),
        ("quantized_on_disk", Flag("quantized_on_disk", span=NOWHERE)),
        ("quantized_on_disk(a)", About("quantized_on_disk", A, span=NOWHERE)),
        ("unquantized_on_disk(@mtp)", About("unquantized_on_disk", MTP, span=NOWHERE)),
        ("excluded(@s.b)", About("excluded", SetRef("s", "b", span=NOWHERE), span=NOWHERE)),
        ("exists(a)", About("exists", A, span=NOWHERE)),
        ("dtype(weight) == bf16", DtypeIs("weight", ("bf16",), span=NOWHERE)),
        ("dtype(weight) in (bf16, f16)", DtypeIs("weight", ("bf16", "f16"), span=NOWHERE)),
        ("kind == moe", Is("kind", ("moe",), span=NOWHERE)),
        ("format in (pack-quantized)", Is("format", ("pack-quantized",), span=NOWHERE)),
        ('arch == "A, B"', Is("arch", ("A, B",), span=NOWHERE)),
        ("path in a", PathIn((A,), span=NOWHERE)),
        ("path in (a, @mtp)", PathIn((A, MTP), span=NOWHERE)),
    ],
)
def test_facts(text: str, node: Condition) -> None:
    assert condition(text) == node


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (
            "draft or target and excluded",
            Or((DRAFT, And((TARGET, EXCLUDED), span=NOWHERE)), span=NOWHERE),
        ),
        ("not draft and target", And((Not(DRAFT, span=NOWHERE), TARGET), span=NOWHERE)),
        ("not (draft and target)", Not(And((DRAFT, TARGET), span=NOWHERE), span=NOWHERE)),
        ("draft and target and excluded", And((DRAFT, TARGET, EXCLUDED), span=NOWHERE)),
        ("draft and (target and excluded)", And((DRAFT, And((TARGET, EXCLUDED), span=NOWHERE)), span=NOWHERE)),
        ("((draft))", DRAFT),
        ("not not draft", Not(Not(DRAFT, span=NOWHERE), span=NOWHERE)),
    ],
)
def test_and_binds_tighter_than_or_and_not_tightest(text: str, node: Condition) -> None:
    assert condition(text) == node


@pytest.mark.parametrize(
    "pattern",
    [
        *("in_proj", "not_a", "drop_path", "a.not.b", "drop.path", '"drop"', "has", "path", "draft", "native", "as"),
        *("{q,k,v}_proj", "indexer{,s}", "{0..2,60}", '"odd, name"."a b"', '{"a b",c}', "shared_expert*", "?", "re"),
        *("mtp.**", '"mtp"', "gate-up", "Mtp"),
    ],
)
def test_a_pattern_is_one_loose_word(pattern: str) -> None:
    rule = Rule((PatternRef(pattern, span=NOWHERE), A), None, NATIVE, span=NOWHERE)
    assert statement(f"{pattern},a:native") == rule


@pytest.mark.parametrize(
    "text",
    [
        "a,\n  a: native",
        "a, # one\n\n# two\n\na: native",
        "a, a\twhen draft and\nnot\ntarget: native",
        "a when (\ndraft\nor\ntarget\n): native",
        "a when has(\n x, # why\n y\n): native",
        "a,\r\na: native\r\n",
    ],
)
def test_a_statement_goes_on_over_line_ends(text: str) -> None:
    assert isinstance(statement(text), Rule)


def test_spans_are_exact() -> None:
    text = 'qpolicy 1\n\n  let ab = x, @cd.y # note\r\nlet cd = z.**\na when not (kind == moe or draft): error "no"\n'
    source = Source("p", text)
    version, let, _, rule = parse(source).statements
    assert isinstance(version, Version) and source.slice(version.span) == "qpolicy 1"
    assert isinstance(let, Let) and isinstance(rule, Rule)
    assert source.slice(let.span) == "let ab = x, @cd.y"
    assert (let.span.line, let.span.column) == (3, 3)
    assert (source.slice(let.name_span), let.name_span.column) == ("ab", 7)
    assert [source.slice(s.span) for s in let.selectors] == ["x", "@cd.y"]
    assert rule.condition is not None
    assert source.slice(rule.condition.span) == "not (kind == moe or draft)"
    assert [source.slice(fact.span) for fact in facts_of(rule.condition)] == ["kind == moe", "draft"]
    assert (source.slice(rule.decision.span), rule.decision.span.column) == ('error "no"', 36)
    assert (rule.span.line, source.slice(rule.span)) == (5, text.splitlines()[4])


def test_columns_count_characters() -> None:
    rule = parse(Source("p", 'qpolicy 1\n"\U0001f642é".a, b: native')).statements[1]
    assert isinstance(rule, Rule)
    assert (rule.selectors[1].span.column, rule.selectors[1].span.line) == (9, 2)


def test_a_set_may_be_used_before_it_is_named() -> None:
    assert parse(Source("p", "qpolicy 1\n@late: native\nlet late = a\n"))


def test_within_its_own_set_a_word_is_only_the_module() -> None:
    assert parse(Source("p", "qpolicy 1\nlet lm_head = lm_head, **.lm_head\n@lm_head: native"))


def test_what_is_refused_is_said_once_for_each_statement() -> None:
    with pytest.raises(PolicySyntaxError) as caught:
        parse(Source("p", "qpolicy 1\n@x, @y, mtp: native\n@z: native"))
    assert [(error.code, error.span.line) for error in caught.value.errors] == [("QP011", 2), ("QP011", 3)]
    assert str(caught.value).count("help: ") == 2
