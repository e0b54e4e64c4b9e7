"""A pattern as a value: its canonical text, equality, and how it is continued."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_strategies import names, patient, pattern_texts, patterns

from qpolicy.paths import Pattern, PatternError

CANONICAL = [
    ('a."b".c', "a.b.c"),
    ('"mtp"', '"mtp"'),
    ("{mtp}", '"mtp"'),
    ('"odd name".x', '"odd name".x'),
    ("{a}_proj", '"a_proj"'),
    ("x.{a}_proj", "x.a_proj"),
    ("x.{a}{b}*", "x.ab*"),
    ("{q,k,q}_proj", "{q,k}_proj"),
    ("{5,4,3}", "{3..5}"),
    ("{0..2,2..4,60}", "{0..4,60}"),
    ("{7..,9..12}", "{7..}"),
    ("{7}", "{7}"),
    ("a.**.**", "a.**.**"),
    ("indexer{,s}", "indexer{,s}"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_the_canonical_text(text: str, canonical: str) -> None:
    assert str(Pattern.parse(text)) == canonical
    assert Pattern.parse(canonical) == Pattern.parse(text)


@patient
@given(pattern_texts())
def test_the_canonical_text_parses_to_an_equal_pattern(text: str) -> None:
    pattern = Pattern.parse(text)
    again = Pattern.parse(str(pattern))
    assert again == pattern
    assert hash(again) == hash(pattern)
    assert str(again) == str(pattern)
    assert (again.single, again.open_ended) == (pattern.single, pattern.open_ended)


def test_patterns_that_are_written_differently_differ() -> None:
    assert Pattern.parse("a.b") != Pattern.parse("a.?")
    assert Pattern.parse("{a,b}") != Pattern.parse("{b,a}")


@pytest.mark.parametrize(
    ("text", "single"), [("mtp", "mtp"), ('"mtp"', None), ("{mtp}", None), ("a.b", None), ("*", None), ("{a,b}", None)]
)
def test_single_is_a_bare_literal_alone(text: str, single: str | None) -> None:
    assert Pattern.parse(text).single == single


@pytest.mark.parametrize(("text", "expected"), [("a.**", True), ("**", True), ("a.*", False), ("**.a", False)])
def test_open_ended(text: str, expected: bool) -> None:
    assert Pattern.parse(text).open_ended is expected


def test_then_continues_an_open_pattern() -> None:
    assert Pattern.parse("mtp.**").then(Pattern.parse("mlp.experts")) == Pattern.parse("mtp.**.mlp.experts")
    assert str(Pattern.parse("**").then(Pattern.parse('"mtp"'))) == "**.mtp"


def test_then_refuses_a_closed_pattern() -> None:
    with pytest.raises(PatternError, match=r"must end in `\.\*\*`\nhelp: write `mtp\.\*\*`"):
        Pattern.parse("mtp").then(Pattern.parse("a"))


def test_then_keeps_to_the_limits() -> None:
    long = Pattern.parse(".".join(["a"] * 63 + ["**"]))
    with pytest.raises(PatternError, match="more than 64 segments"):
        long.then(Pattern.parse("b"))


@patient
@given(names(), names())
def test_a_literal_matches_its_name_alone(name: str, other: str) -> None:
    pattern = Pattern.literal(name)
    assert pattern.matches(name)
    assert pattern.matches(other) is (other == name)
    assert Pattern.parse(str(pattern)) == pattern


@pytest.mark.parametrize("name", ["when", "odd name.x", "a*.?", "layers.{0,2}", "a@b:c"])
def test_a_literal_quotes_what_means_something_else(name: str) -> None:
    pattern = Pattern.parse(str(Pattern.literal(name)))
    assert pattern.matches(name)
    assert pattern.single is None


@pytest.mark.parametrize("name", ["", "a..b", 'a"b', "a.b\x00", "a\nb"])
def test_a_literal_of_what_no_pattern_spells_is_refused(name: str) -> None:
    with pytest.raises(PatternError, match="no pattern can spell this name"):
        Pattern.literal(name)


@patient
@given(patterns(), st.text(max_size=20))
def test_any_text_may_be_asked(pattern: Pattern, text: str) -> None:
    assert pattern.matches(text) in (True, False)
