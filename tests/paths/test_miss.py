"""The nearest miss: which segment kept a name from matching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_strategies import names, patient, patterns, texts

from qpolicy.paths import Pattern, nearest_miss, nearest_misses
from qpolicy.paths.miss import END

TABLE = [
    ("**.mlp.gate", "model.layers.0.mlp.gate_proj", "matched 4 of 5 segments; expected `gate`, found `gate_proj`"),
    ("m.{0..2}.mlp.**", "m.3.mlp.gate", "matched 3 of 4 segments; expected `{0..2}`, found `3`"),
    ("a.b.c", "a.x.b.c", "matched 3 of 4 segments; expected `b`, found `x`"),
    ("a.b.c", "b.c", "matched 2 of 2 segments; expected `a`, found `b`"),
    ("a.b.c", "a.b", "matched 2 of 2 segments; the name ends where the pattern goes on with `c`"),
    ("a.*", "a", "matched 1 of 1 segment; the name ends where the pattern goes on with one or more segments"),
    ("a.?", "a", "matched 1 of 1 segment; the name ends where the pattern goes on with one more segment"),
    ("a.?", "a.b.c", "matched 2 of 3 segments; the pattern ends where the name goes on with `c`"),
    ("lm_head", "model.norm", "matched 0 of 2 segments; expected `lm_head`, found `model`"),
    ("a.{q,k}_proj", "a.v_proj", "matched 1 of 2 segments; expected `{q,k}_proj`, found `v_proj`"),
    ("a.b.c", "a..c", "matched 2 of 3 segments; expected `b`, found an empty segment"),
    ("a", "", "matched 0 of 0 segments; the name ends where the pattern goes on with `a`"),
    ("a.b", "a.\x00", r"matched 1 of 2 segments; expected `b`, found `\x00`"),
]


@pytest.mark.parametrize(("pattern", "name", "text"), TABLE)
def test_the_text_of_a_miss(pattern: str, name: str, text: str) -> None:
    miss = nearest_miss(Pattern.parse(pattern), name)
    assert miss is not None
    assert miss.text == text


def test_the_fields_of_a_miss() -> None:
    miss = nearest_miss(Pattern.parse("**.mlp.gate"), "model.0.mlp.gate_proj")
    assert miss is not None
    assert (miss.matched, miss.index, miss.expected, miss.found, miss.differences) == (3, 3, "gate", "gate_proj", 1)
    ended = nearest_miss(Pattern.parse("a"), "a.b")
    assert ended is not None
    assert (ended.index, ended.expected, ended.found) == (1, END, "b")


@patient
@given(patterns(), st.one_of(names(), texts()))
def test_a_miss_exists_exactly_when_the_pattern_does_not_match(pattern: Pattern, name: str) -> None:
    miss = nearest_miss(pattern, name)
    assert (miss is None) is pattern.matches(name)
    if miss is not None:
        segments = name.split(".") if name else []
        assert 0 <= miss.matched <= len(segments)
        assert miss.found == (segments[miss.index] if miss.index < len(segments) else None)
        assert miss.expected == END or miss.expected in str(pattern)
        assert miss.text


POOL = ("a", "b", "c", "0")


@patient
@given(
    st.lists(st.sampled_from([*POOL, "{a,b}", "{0..}", "?", "*", "**"]), min_size=1, max_size=4).map(".".join),
    st.lists(st.sampled_from(POOL), min_size=1, max_size=4),
)
def test_one_difference_is_what_one_change_of_the_name_mends(text: str, segments: list[str]) -> None:
    pattern = Pattern.parse(text)
    miss = nearest_miss(pattern, ".".join(segments))
    if miss is None:
        return
    places = range(len(segments) + 1)
    changed = [
        [*segments[:place], new, *segments[after:]] for place in places for after in (place, place + 1) for new in POOL
    ]
    changed += [segments[:place] + segments[place + 1 :] for place in places]
    assert (miss.differences == 1) is any(pattern.matches(".".join(each)) for each in changed)


def test_the_nearest_of_many_come_first() -> None:
    listed = [Pattern.parse(text) for text in ("x.y.z", "m.0.mlp.up", "m.0.mlp.gates", "m.0.mlp.gate", "m.1.mlp.up")]
    misses = nearest_misses(listed, "m.0.mlp.gate", 3)
    assert [str(miss.pattern) for miss in misses] == ["m.0.mlp.gates", "m.0.mlp.up", "m.1.mlp.up"]
    assert nearest_misses([], "a") == ()


def test_a_hostile_name_is_compared_in_part() -> None:
    pattern = Pattern.parse(".".join(["**.a"] * 32))
    miss = nearest_miss(pattern, ".".join(["a", "b"] * 50_000))
    assert miss is not None
    assert miss.index <= 256
    assert len(miss.text) < 200
