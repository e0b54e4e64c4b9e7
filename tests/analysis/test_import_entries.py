"""Entries as patterns: an exact translation matches just the names that the operator fits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qpolicy.analysis.entries import Translation, meaning, syntax_of, translate
from qpolicy.native import Entry
from qpolicy.native.records import Clause, Record, find_record
from qpolicy.native.vocabulary import OPERATORS
from qpolicy.paths import Pattern

SEGMENTS = ("model", "layers", "0", "1", "11", "mlp", "gate", "gate_proj", "up_proj", "q_proj", "qkv_proj", "mtp", "x")
NAMES = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=5).map(".".join)
ENDS = st.sampled_from(("", "$", ".*", r"\..*"))
STARTS = st.sampled_from(("", "^", ".*", r".*\.", r"(?:.*\.)?"))
PIECES = st.sampled_from((r"\d+", r"[^.]+", "(gate|up_proj)", "[01]", ".*", "gate_?proj", "mlp", "layers", "q", "gate"))
REGEXES = st.builds(
    lambda start, pieces, end: start + r"\.".join(pieces) + end,
    STARTS,
    st.lists(PIECES, min_size=1, max_size=4),
    ENDS,
)
GLOBS = st.lists(st.sampled_from((*SEGMENTS, "*", "*gate", "gate*", "layers.1*")), min_size=1, max_size=4).map(".".join)
PARTS = NAMES | st.sampled_from(("gate", "mlp.", ".gate", "layers.1", "proj", "q_"))


def read(text: str, *operators: str) -> Translation:
    record = Record("d", "e", "1", (), ("ignore",), (Clause(operators),), ("own",), {})
    return translate(Entry(text, "ignore[0]", "ignore"), record)


def fits(text: str, operator: str, name: str) -> bool:
    return bool(list(OPERATORS[operator]([(0, text)], {}).fitting(name)))


def says_the_same(text: str, operator: str, names: list[str]) -> None:
    translation = read(text, operator)
    patterns = [Pattern.parse(pattern) for pattern in translation.patterns]
    for name in names if translation.exact and patterns else ():
        assert any(pattern.matches(name) for pattern in patterns) == fits(text, operator, name), (text, name)


@settings(max_examples=150)
@given(REGEXES, st.lists(NAMES, max_size=8))
def test_regular_expressions(text: str, names: list[str]) -> None:
    says_the_same(text, "regex", names)


@settings(max_examples=100)
@given(GLOBS, st.lists(NAMES, max_size=8))
def test_globs(text: str, names: list[str]) -> None:
    says_the_same(text, "glob", names)


@settings(max_examples=150)
@given(
    PARTS,
    st.sampled_from(("equality", "dotted-suffix", "raw-suffix", "segment-run", "substring", "wildcard")),
    st.lists(NAMES),
)
def test_plain_entries(text: str, operator: str, names: list[str]) -> None:
    says_the_same(text, operator, names)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("lm_head", ("**.lm_head",)),
        (r"re:.*\.mlp\.gate$", ("*.mlp.gate",)),
        (r"re:.*mlp\.gate$", ("**.*mlp.gate",)),
        (r"re:mtp\..*", ("mtp.*",)),
        (r"re:.*\.[qkv]_proj$", ("*.{q,k,v}_proj",)),
        (r"re:^model\.layers\.(0?[0-9]|1[01])\..*$", ("model.layers.{0..11}.*",)),
        (r"re:model\.layers\.\d+\.mlp\.gate$", ("model.layers.{0..}.mlp.gate",)),
        (r"re:vision_tower.*", ("vision_tower*.**",)),
    ],
)
def test_what_published_entries_come_to(text: str, patterns: tuple[str, ...]) -> None:
    record = find_record("compressed-tensors", "sglang")
    assert record is not None
    assert translate(Entry(text, "ignore[0]", "ignore"), record) == Translation(patterns, True)


@pytest.mark.parametrize("text", [r"(?=a)b", r"a{2,}", r"(a)\1", r"[^a]x", "(", r"\w+_proj"])
def test_what_no_pattern_says_has_a_reason(text: str) -> None:
    translation = read(text, "regex")
    assert not translation.patterns
    assert translation.why


def test_a_free_character_is_taken_for_a_dot_and_said_so() -> None:
    translation = read("mlp.gate$", "regex")
    assert (translation.patterns, translation.exact) == (("mlp.gate",), False)
    assert "dots" in translation.why


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("lm_head", "name"),
        ("model.layers.0.", "name"),
        ("re:.*gate", "regex"),
        (".*gate", "regex"),
        ("-:.*gate", "regex"),
        ("model.layers.*", "glob"),
        ("*.gate", "glob"),
        ("Linear", "class"),
        ("Qwen3MoeMLP", "class"),
    ],
)
def test_how_entries_are_written(text: str, syntax: str) -> None:
    assert syntax_of(text) == syntax


@pytest.mark.parametrize(
    ("text", "named", "not_named"),
    [
        ("re:.*v_proj", "a.v_proj", "a.qkv_proj"),
        ("re:.*mlp.gate", "a.mlp.gate", "a.mlp.gate_proj"),
        ("model.layers.1*", "model.layers.1.mlp", "model.layers.11.mlp"),
        ("mlp.gate", "a.mlp.gate", "a.mlp.gate_proj"),
        ("re:.*layers.1.*", "model.layers.1.mlp", "model.layers.10.mlp"),
    ],
)
def test_what_entries_were_meant_for(text: str, named: str, not_named: str) -> None:
    assert meaning(text).names(named)
    assert not meaning(text).names(not_named)
