"""Every kind of mistake: where it is, what is wrong, what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_strategies import patient

from qpolicy.errors import QPolicyError
from qpolicy.paths import Pattern, PatternError

# text, the offsets of the mistake, a part of the message, a part of the hint
MISTAKES = [
    ("", (0, 0), "is empty", "`**` is every name"),
    ("a..b", (1, 3), "between two dots is empty", "`**`"),
    (".a", (0, 1), "begins with a dot", "leave the dot out"),
    ("a.", (1, 2), "ends with a dot", "`.**`"),
    (".*gate", (0, 1), "begins with a dot", "no regular expression"),
    ("a.{}", (2, 4), "nothing in them", "{a,b}"),
    ("{007}", (1, 4), "`007` is not how an integer is written", "`7`"),
    ("{00}", (1, 3), "`00` is not how", "`0`"),
    ("{0,007..9}", (3, 9), "`007` is not how", "outside braces"),
    ("{2..0}", (1, 5), "runs backwards", "{0..2}"),
    ("{..5}", (1, 4), "no range of integers", "{0..2}"),
    ("{a..c}", (1, 5), "no range of integers", "letters have no ranges"),
    ("{0..2..4}", (1, 8), "no range of integers", "{0..2}"),
    ("{0...2}", (1, 6), "no range of integers", "{0..2}"),
    ("{-1..2}", (1, 6), "no range of integers", "{0..2}"),
    ("{٣}", (1, 2), "no range of integers", "{0..2}"),
    ("{1234567890123456789}", (1, 20), "more than 18 digits", "{0..}"),
    ("{0,x}", (3, 4), "both integers and spellings", "a pattern for each"),
    ("{x,0}", (1, 2), "both integers and spellings", "a pattern for each"),
    ("{,1}", (1, 2), "both integers and spellings", "a pattern for each"),
    ("w{1,3}", (1, 6), "integers in braces beside other characters", "{w1,w3}"),
    ("{0..2}x", (0, 6), "integers in braces beside other characters", "fill the whole segment"),
    ("{0..2}*", (0, 6), "integers in braces beside other characters", "fill the whole segment"),
    ("{a,{b}}", (3, 4), "braces inside braces", "one pair"),
    ("{a.b}", (2, 3), "a dot inside braces", "pattern for each"),
    ("{a*,b}", (2, 3), "a wildcard inside braces", "pattern for each"),
    ("{?}", (1, 2), "a wildcard inside braces", "pattern for each"),
    ('{"a",b}', (1, 2), "a quote inside braces", "plain spellings"),
    ("{q, k}", (3, 4), "a space inside braces", "leave the space out"),
    ("{q|k}", (2, 3), "`|` inside braces", "{q,k,v}_proj"),
    ("{,a}", (0, 4), "leave the segment empty", "second pattern"),
    ("x.{,a}{,b}", (2, 10), "leave the segment empty", "second pattern"),
    ("{a", (0, 2), "a brace that is never closed", "`}`"),
    ("a.{b,c.d", (2, 8), "a brace that is never closed", "`}`"),
    ("a}", (1, 2), "without an opening one", "{a,b}"),
    ("a?", (1, 2), "`?` beside other characters", "write `*` here"),
    ("?a", (0, 1), "`?` beside other characters", "stands alone"),
    ("??", (0, 1), "`?` beside other characters", "one whole segment"),
    ("**x", (0, 2), "`**` beside other characters", "one `*`"),
    ("a**", (1, 3), "`**` beside other characters", "one `*`"),
    ("***", (0, 2), "`**` beside other characters", "one `*`"),
    ('"a.b"', (2, 3), "a dot inside quotes", "each segment"),
    ('"a', (0, 2), "a quote that is never closed", 'closing `"`'),
    ('x.""', (2, 4), "an empty quoted segment", "never empty"),
    ('"a"b', (3, 4), "after a closing quote", "whole segment"),
    ('"a"*', (3, 4), "after a closing quote", "whole segment"),
    ('a"b"', (1, 2), "a quote inside a segment", "whole segment"),
    ("'a b'", (0, 1), "a single quote", "double quotes"),
    ("re:.*mlp", (0, 3), "a regular expression", "leave out `re:`"),
    ("^model", (0, 1), "`^` has no meaning", "no regular expression"),
    ("mlp.gate$", (8, 9), "`$` has no meaning", "no regular expression"),
    (r"mlp\.gate", (3, 4), "has no meaning", "no regular expression"),
    ("a|b", (1, 2), "`|` has no meaning", "no regular expression"),
    ("(a)", (0, 1), "`(` has no meaning", "no regular expression"),
    ("a.[0-9]", (2, 3), "`[` has no meaning", "no regular expression"),
    ("a+", (1, 2), "`+` has no meaning", "no regular expression"),
    ("!a", (0, 1), "`!` inside a pattern", "never negated"),
    ("a,b", (1, 2), "a comma outside braces", "separate whole patterns"),
    ("a@b", (1, 2), "`@` inside a pattern", "@NAME"),
    ("a#b", (1, 2), "begins a comment", "double quotes"),
    ("a:b", (1, 2), "a colon inside a pattern", "no regular expression"),
    ("a=b", (1, 2), "`=` inside a segment", "double quotes"),
    ("a b", (1, 2), "a space inside a pattern", "double quotes"),
    (" a", (0, 1), "a space inside a pattern", "double quotes"),
    ("a\x00", (1, 2), r"character \\x00 cannot be printed", "`?` takes any"),
    ("a\u202eb", (1, 2), r"character \\u202e cannot be printed", "`?` takes any"),
    ('"a\nb"', (2, 3), r"character \\n cannot be printed", "`?` takes any"),
    ("a" * 5000, (4096, 5000), "longer than 4096 characters", "shorter"),
    (".".join("a" * 65), (0, 129), "more than 64 segments", "`**`"),
    ("x" + "{a,b,c}" * 7, (0, 50), "more than 1024 spellings", "several patterns"),
    ("x" * 3000 + "{a,b}" * 6, (0, 3030), "65536 characters", "several patterns"),
]


@pytest.mark.parametrize(("text", "place", "message", "hint"), MISTAKES)
def test_a_mistake_is_named_with_its_place_and_remedy(
    text: str, place: tuple[int, int], message: str, hint: str
) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern.parse(text)
    error = caught.value
    assert (error.start, error.end) == place
    assert message.replace("\\\\", "\\") in error.message
    assert hint in error.hint
    assert f"character {place[0] + 1}: {error.message}\nhelp: {error.hint}" in str(error)
    assert len(str(error)) < 500
    assert str(error).replace("\n", "").isprintable()
    assert isinstance(error, QPolicyError)


@patient
@given(st.text(st.characters() | st.sampled_from('ab01.{},*?"'), max_size=30))
def test_any_text_is_a_pattern_or_a_pattern_error(text: str) -> None:
    try:
        pattern = Pattern.parse(text)
    except PatternError as error:
        assert 0 <= error.start <= error.end <= len(text)
        assert error.start < error.end or not text
        assert error.message
        assert error.hint
    else:
        assert Pattern.parse(str(pattern)) == pattern


@patient
@given(st.text(st.sampled_from('ab01.{},*?"'), max_size=12))
def test_marks_in_any_order_are_read_or_refused(text: str) -> None:
    try:
        pattern = Pattern.parse(text)
    except PatternError as error:
        assert text[error.start : error.end] or not text
    else:
        assert Pattern.parse(str(pattern)) == pattern


@pytest.mark.parametrize(
    "text", ["a.é.日本", "a-b.c/d", "x.0~1%", "model.*", "{a-b,c_d}x", "{-1}", "x" + "{a,b}" * 10, "*.{q,k}_*.**"]
)
def test_what_is_no_mistake(text: str) -> None:
    assert str(Pattern.parse(text)).replace('"', "") == text.replace("{-1}", "-1")
