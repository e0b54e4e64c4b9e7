"""The index gives, for every name, what its patterns one by one give, and keeps within its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_strategies import groups, names, patient, texts

from qpolicy.paths import Pattern, PatternIndex, reference
from qpolicy.paths.index import MAX_REMEMBERED_SEGMENT


def _index(*texts: str) -> PatternIndex:
    return PatternIndex([[Pattern.parse(text)] for text in texts])


@patient
@given(groups(), st.lists(st.one_of(names(), texts()), max_size=8))
def test_the_index_agrees_with_its_patterns_and_with_the_reference(
    policy: list[list[Pattern]], asked: list[str]
) -> None:
    index = PatternIndex(policy)
    for name in asked:
        matched = tuple(
            group for group, patterns in enumerate(policy) if any(pattern.matches(name) for pattern in patterns)
        )
        assert index.matches(name) == matched
        assert index.first(name) == (matched[0] if matched else None)
        assert matched == tuple(
            group
            for group, patterns in enumerate(policy)
            if any(reference.matches(str(pattern), name) for pattern in patterns)
        )


@patient
@given(groups(), st.lists(names(), max_size=12), st.integers(1, 30))
def test_forgetting_changes_no_answer(policy: list[list[Pattern]], asked: list[str], cells: int) -> None:
    index, small = PatternIndex(policy), PatternIndex(policy, max_cells=cells)
    for name in asked * 2:
        assert small.matches(name) == index.matches(name)


def test_ids_are_sorted_and_first_is_the_smallest() -> None:
    index = _index("x", "**", "a.*", "**.b", "a.b")
    assert index.matches("a.b") == (1, 2, 3, 4)
    assert index.first("a.b") == 1
    assert PatternIndex([]).matches("a") == ()
    assert PatternIndex([[], []]).first("a") is None


def test_memory_is_bounded_for_hostile_names() -> None:
    index = PatternIndex([[Pattern.parse("**.a.*.b.**")]], max_cells=500)
    for number in range(2000):
        index.matches(f"a.{number}.b{number}")
        assert index.cells <= 500
    assert index.matches("x.a.x.b") == (0,)


def test_long_segments_are_not_remembered() -> None:
    index = _index("**.x*")
    long = "x" * (MAX_REMEMBERED_SEGMENT + 1)
    assert index.matches(f"a.{long}") == (0,)
    cells = index.cells
    assert index.matches(f"a.{long}y") == (0,)
    assert index.cells == cells


@pytest.mark.parametrize("text", ["**.a", "a.**", "?.?", "*.z"])
def test_a_name_of_a_hundred_thousand_segments(text: str) -> None:
    index = _index(text)
    name = ".".join(["a"] * 100_000)
    assert index.matches(name) == ((0,) if Pattern.parse(text).matches(name) else ())
    assert index.states <= 3


def test_a_known_name_costs_no_new_step_however_many_patterns_there_are() -> None:
    asked = [f"model.layers.{layer}.mlp.experts.{expert}.gate_proj" for layer in range(20) for expert in range(20)]
    computed = []
    for count in (5, 500):
        index = _index(*(f"**.unit{number}.gate" for number in range(count)))
        for name in asked:
            index.matches(name)
        computed.append(index.computed)
        for name in asked:
            index.matches(name)
        assert index.computed == computed[-1]
    # Patterns that the names do not meet add no state and no transition.
    assert computed[0] == computed[1]


def test_equal_situations_share_a_state() -> None:
    index = _index("model.layers.*.mlp.gate")
    for layer in range(100):
        index.matches(f"model.layers.{layer}.mlp.gate")
    assert index.states <= 6
