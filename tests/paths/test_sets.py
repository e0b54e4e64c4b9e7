"""The algebra of sets of names: its laws, and exactness against a brute-force search in a small universe."""

from collections.abc import Callable
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from path_strategies import names, patient, pattern_texts, patterns

from qpolicy.paths import PathSet, Pattern, Undecided, reference

ALL, NONE = PathSet.everything(), PathSet.nothing()

LAWS: dict[str, Callable[[PathSet, PathSet, PathSet], tuple[PathSet, PathSet]]] = {
    "union commutes": lambda a, b, c: (a | b, b | a),
    "intersection commutes": lambda a, b, c: (a & b, b & a),
    "union associates": lambda a, b, c: ((a | b) | c, a | (b | c)),
    "intersection associates": lambda a, b, c: ((a & b) & c, a & (b & c)),
    "union absorbs": lambda a, b, c: (a | (a & b), a),
    "intersection absorbs": lambda a, b, c: (a & (a | b), a),
    "union is idempotent": lambda a, b, c: (a | a, a),
    "intersection is idempotent": lambda a, b, c: (a & a, a),
    "union distributes": lambda a, b, c: (a | (b & c), (a | b) & (a | c)),
    "intersection distributes": lambda a, b, c: (a & (b | c), (a & b) | (a & c)),
    "nothing is neutral": lambda a, b, c: (a | NONE, a),
    "everything is neutral": lambda a, b, c: (a & ALL, a),
    "nothing annihilates": lambda a, b, c: (a & NONE, NONE),
    "everything annihilates": lambda a, b, c: (a | ALL, ALL),
    "a set and its complement are everything": lambda a, b, c: (a | ~a, ALL),
    "a set and its complement share nothing": lambda a, b, c: (a & ~a, NONE),
    "complement undoes itself": lambda a, b, c: (~~a, a),
    "De Morgan of a union": lambda a, b, c: (~(a | b), ~a & ~b),
    "De Morgan of an intersection": lambda a, b, c: (~(a & b), ~a | ~b),
    "difference": lambda a, b, c: (a - b, a & ~b),
}


def sets() -> st.SearchStrategy[PathSet]:
    leaves = st.lists(patterns(3), max_size=2).map(lambda found: PathSet.of(*found))
    return st.recursive(
        leaves,
        lambda part: st.one_of(
            st.tuples(part, part).map(lambda pair: pair[0] & pair[1]),
            st.tuples(part, part).map(lambda pair: pair[0] | pair[1]),
            part.map(lambda each: ~each),
        ),
        max_leaves=3,
    )


@settings(patient, max_examples=40)
@given(sets(), sets(), sets())
def test_laws(a: PathSet, b: PathSet, c: PathSet) -> None:
    for law, sides in LAWS.items():
        left, right = sides(a, b, c)
        assert left == right, law


@patient
@given(sets(), sets())
def test_subset_is_an_empty_difference(a: PathSet, b: PathSet) -> None:
    assert (a <= b) is (a - b).is_empty()
    assert (a <= b) is (a | b == b)
    assert (b >= a) is (a <= b)
    assert (a == b) is (a <= b <= a)
    assert a.is_disjoint(b) is (a & b).is_empty()
    assert a & b <= a <= a | b


@patient
@given(sets(), sets(), names())
def test_membership_is_logic(a: PathSet, b: PathSet, name: str) -> None:
    assert (name in a | b) is (name in a or name in b)
    assert (name in a & b) is (name in a and name in b)
    assert (name in a - b) is (name in a and name not in b)
    assert (name in ~a) is (name not in a)
    if a <= b and name in a:
        assert name in b


SEGMENTS = ["a", "b", "z", "0", "1", "aa", "ab", "ba", "bb", "az", "a0", "10", "11", "01"]
UNIVERSE = reference.universe(SEGMENTS, 2)


@settings(patient, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.lists(pattern_texts(2), max_size=2)), min_size=1, max_size=3))
def test_the_witness_is_a_shortest_member(parts: list[tuple[bool, list[str]]]) -> None:
    symbolic, listed = ALL, UNIVERSE
    for inside, written in parts:
        each = PathSet.of(*map(Pattern.parse, written))
        symbolic &= each if inside else ~each
        members = reference.members(written, UNIVERSE)
        listed &= members if inside else UNIVERSE - members
    witness = symbolic.witness()
    assert symbolic.is_empty() is (witness is None)
    if witness is None:
        assert not listed
        return
    assert witness in symbolic
    for inside, written in parts:
        assert any(reference.matches(text, witness) for text in written) is inside
    assert not listed or reference.size(witness) <= min(map(reference.size, listed))


@patient
@given(sets())
def test_the_universe_agrees_with_emptiness(a: PathSet) -> None:
    if any(name in a for name in SEGMENTS):
        assert not a.is_empty()
    witness = a.witness()
    assert witness is None or witness in a


def _set(*texts: str) -> PathSet:
    return PathSet.of(*map(Pattern.parse, texts))


@pytest.mark.parametrize(
    ("found", "witness"),
    [
        (_set("a*") & _set("*b"), "ab"),
        (_set("ab*") & _set("*ba"), "aba"),
        (_set("a*b*c") & _set("*cb*"), "acbc"),
        (_set("{0..}") & _set("3"), "3"),
        (_set("{0..}") & _set("007"), None),
        (_set("?") & _set("007"), "007"),
        (_set("{0..}") - _set("?"), None),
        (_set("{0..}") - _set("{0..9}"), "10"),
        (_set("{0..}") - _set("{0..99}", "100", "{101..}"), None),
        (_set("{0..5}") - _set("0", "{1..4}"), "5"),
        (_set("{0..5}") - _set("{0..3}", "4", "5"), None),
        (_set("0*", "1*") & _set("{0..}") - _set("0", "1", "10"), "11"),
        (_set("*5") & _set("{10..24}"), "15"),
        (_set("?") - _set("{0..}", "?"), None),
        (_set("{a,b}_{c,d}") - _set("a_*", "*_c"), "b_d"),
        (_set("*.*") & ~_set("**.a.**"), "b.b"),
        (_set("**.a") - _set("*"), None),
        (_set("a.**.b") - _set("a.b", "a.*.b"), None),
        (_set("a.**") & _set("**.b"), "a.b"),
        (_set("model.layers.{0..60}.**") - _set("model.layers.{0..59}.**", "*.gate"), "model.layers.60"),
        (ALL, "a"),
        (NONE, None),
        (~_set("**"), None),
        (_set('"odd name".*') - _set("?.a"), "odd name.b"),
    ],
)
def test_known_witnesses(found: PathSet, witness: str | None) -> None:
    assert found.witness() == witness


def test_equality_is_about_names_not_about_writing() -> None:
    assert _set("a.**.b") == _set("a.b", "a.*.b")
    assert _set("{0..1}") == _set("0", "1")
    assert _set("?") != _set("*")
    assert _set("a") != "a"
    with pytest.raises(TypeError, match="has no hash"):
        hash(_set("a"))


def test_only_names_are_members() -> None:
    assert 3 not in ALL
    assert "" not in ALL
    assert "a..b" not in ~_set("a")


def test_deep_and_shared_expressions_are_no_burden() -> None:
    deep = reduce(lambda left, number: ~(left | _set(f"a{number}")), range(3000), _set("a"))
    assert "b" in deep or "b" in ~deep
    shared = _set("a", "b")
    for _ in range(64):
        shared = (shared | shared) & shared
    assert shared.witness() == "a"
    assert reduce(PathSet.__or__, [_set(f"a{number}") for number in range(1000)]) <= _set("a*")


def test_a_spent_budget_is_undecided_and_says_which() -> None:
    hard = _set(*(f"**.a{number}.**.b{number}.**" for number in range(16)))
    question = hard & ~_set("x.**") & ~hard
    with pytest.raises(Undecided, match="more than 20,000 automaton states") as caught:
        question.witness()
    assert caught.value.budget == "20,000 automaton states"
    with pytest.raises(Undecided, match="more than 100 steps"):
        question.witness(work=100)
    with pytest.raises(Undecided, match="more than 3 automaton states"):
        (_set("a.b.c.d.e") - _set("x")).witness(states=3)


def test_many_globs_are_undecided_in_bounded_work() -> None:
    globs = _set(*(f"*{letter}*" for letter in "abcdefghijklmnopqrst"))
    with pytest.raises(Undecided, match="steps"):
        (_set("?") - globs).witness(work=300_000)
