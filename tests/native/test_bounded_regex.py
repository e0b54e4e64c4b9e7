from __future__ import annotations

import re

import pytest
from effort import at_most
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qpolicy.native import NativeConfigError, engine_reading, producer_reading, read_config
from qpolicy.native.positions import Positions
from qpolicy.native.regex import RegexError, _parser, compile_regex

ATOMS = (
    "a",
    "b",
    r"\.",
    ".",
    "[ab]",
    "[^a.]",
    r"\d",
    r"\w",
    r"[0-9]",
    "1",
    "^",
    "$",
    r"\b",
    r"\B",
    "(?=a)",
    "(?!b)",
    "(?<=a)",
    "(?<!b)",
)


def _patterns() -> st.SearchStrategy[str]:
    atom = st.sampled_from(ATOMS)
    quantifier = st.sampled_from(("*", "+", "?", "{2}", "{1,3}", "*?", "{0,2}?", "{2,}"))

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        joined = st.lists(inner, min_size=1, max_size=3).map("".join)
        either = st.lists(inner, min_size=2, max_size=3).map("|".join).map("(?:{})".format)
        repeated = st.tuples(inner, quantifier).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
        return joined | either | repeated

    return st.recursive(atom, grow, max_leaves=8)


@settings(max_examples=600)
@given(_patterns(), st.text(alphabet="ab1.\n", max_size=12))
@example("(?:a|ab)(?:c|bcd)*$", "abcd")
@example("(?:(?:a?)*?b)+$", "aabb")
def test_following_positions_finds_a_match_exactly_when_backtracking_does(pattern: str, name: str) -> None:
    tree = _parser.parse(pattern)
    assert Positions(tree).match(name) == (re.match(pattern, name) is not None)
    assert compile_regex(pattern).match(name) == (re.match(pattern, name) is not None)


@given(st.sampled_from(("(?i)", "(?s)", "(?is)")), _patterns(), st.text(alphabet="aAbB1.\n", max_size=8))
def test_flags_are_heeded(flags: str, pattern: str, name: str) -> None:
    whole = flags + pattern
    assert Positions(_parser.parse(whole)).match(name) == (re.match(whole, name) is not None)


HOSTILE = (
    "(a+)+$",
    "(a|a)*$",
    "(.*a){30}$",
    "(?:a|aa)+$",
    "((((a{0,9}){0,9}){0,9}){0,9}){0,9}b",
    ".*.*.*.*.*.*.*.*.*.*x",
    "a?" * 60 + "a" * 60 + "b",
    "([a-z]+)*X",
    "(?:a*)*b",
    "(a{9999}){9999}",
    "((){9999}){9999}b",
    "^(?:(?:a+)+)+$",
)


@pytest.mark.parametrize("pattern", HOSTILE)
@pytest.mark.parametrize("length", [60, 5000])
def test_patterns_that_backtrack_forever_are_answered_at_once(pattern: str, length: int) -> None:
    with at_most(calls=2_000_000):
        compile_regex(pattern).match("a" * length + ".")


@pytest.mark.parametrize(
    ("pattern", "broken", "reason"),
    [
        ("(", True, "not a regular expression"),
        ("*a", True, "not a regular expression"),
        ("a{99999999999999}", True, "not a regular expression"),
        (r"(?=(a+))\1*b", False, "backtrack forever"),
        (r"(a*)*\1", False, "backtrack forever"),
        ("(" * 3000 + ")" * 3000, False, "nested too deeply"),
        ("(?:" * 60 + "a" + ")*" * 60, False, "nested too deeply"),
        ("a" * 20_000, False, "characters long"),
    ],
)
def test_what_cannot_be_used_says_why(pattern: str, broken: bool, reason: str) -> None:
    with pytest.raises(RegexError, match=reason) as caught:
        compile_regex(pattern)
    assert caught.value.broken is broken


def test_a_back_reference_in_a_cheap_pattern_is_fine() -> None:
    assert compile_regex(r"model\.(gate|up)_proj").match("model.up_proj")
    with pytest.raises(NativeConfigError, match=r"quantization_config\.ignore\[1\].*simplify it"):
        engine_reading(read_config({"quant_method": "compressed-tensors", "ignore": ["a", r"re:(a*)*\1"]}), "sglang")


def test_an_entry_that_the_engine_cannot_compile_is_the_engines_refusal() -> None:
    config = read_config({"quant_method": "compressed-tensors", "ignore": ["lm_head", "re:("]})
    answer = engine_reading(config, "sglang").ask("model.layers.0.mlp.gate", "linear")
    assert answer.outcome == "error"
    assert "quantization_config.ignore[1]" in answer.why
    assert producer_reading(config).listed("lm_head", "linear").excluded


@pytest.mark.parametrize(
    ("pattern", "name"),
    [("re:.*a.*b.*c.*d.*e.*f.*g$", "ab" * 4000), ("re:.*", "a" * 200_000), ("*a*b*c*d*e*f*", "a" * 5000)],
)
def test_long_names_stay_affordable(pattern: str, name: str) -> None:
    with at_most(calls=4_000_000):
        for method, key in (("compressed-tensors", "ignore"), ("quark", "exclude")):
            producer_reading(read_config({"quant_method": method, key: [pattern]})).ask(name, "linear")
