"""Patterns under construction: they are spelled as the language reads them, and merging changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qpolicy.analysis.inference.merge import merged
from qpolicy.analysis.inference.shapes import ANY_NUMBER, REST, Numbers, Shape, Words, braced, spelled
from qpolicy.paths import Pattern


def words(name: str) -> Shape:
    return tuple(Words((word,)) for word in name.split("."))


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (words("lm_head"), "lm_head"),
        (words("mtp"), '"mtp"'),
        (words("in"), '"in"'),
        (words("a.odd name.b"), 'a."odd name".b'),
        (words("a.b*.c#d"), 'a."b*"."c#d"'),
        (words("a.b\x07.c"), "a.?.c"),
        ((*words("model.layers"), ANY_NUMBER, REST), "model.layers.{0..}.**"),
        ((Words(("a",)), Numbers(((0, 2), (60, 60)))), "a.{0..2,60}"),
        ((REST, Words(("gate", "router"))), "**.{gate,router}"),
    ],
)
def test_how_a_pattern_is_spelled(shape: Shape, text: str) -> None:
    assert spelled(shape) == text
    assert str(Pattern.parse(text)) == text


@pytest.mark.parametrize(
    ("spellings", "text"),
    [
        (("q_proj", "k_proj", "v_proj"), "{q,k,v}_proj"),
        (("in_proj_a", "in_proj_b"), "in_proj_{a,b}"),
        (("gate", "shared_expert_gate"), "{gate,shared_expert_gate}"),
        (("linear_fc1", "linear_fc2"), "linear_{fc1,fc2}"),
        (("fc_1", "fc_2"), "{fc_1,fc_2}"),
        (("up_proj", "down_up_proj"), "{up,down_up}_proj"),
    ],
)
def test_what_spellings_have_in_common_stands_before_or_behind_the_braces(
    spellings: tuple[str, ...], text: str
) -> None:
    assert braced(spellings) == text
    assert all(Pattern.parse(f"a.{text}").matches(f"a.{word}") for word in spellings)


def test_spellings_are_merged_before_those_of_their_parents() -> None:
    names = ["a.x.q_proj", "a.x.k_proj", "a.y.q_proj", "a.y.k_proj", "lm_head"]
    assert [spelled(shape) for shape in merged([words(name) for name in names])] == ["a.{x,y}.{q,k}_proj", "lm_head"]


segments = st.sampled_from(["a", "b", "q_proj", "k_proj", "7x", "odd name", "in"])


@given(st.lists(st.lists(segments, min_size=1, max_size=3).map(".".join), min_size=1, max_size=12, unique=True))
def test_merged_patterns_match_the_same_names(names: list[str]) -> None:
    found = [Pattern.parse(spelled(shape)) for shape in merged([words(name) for name in names])]
    assert len(found) <= len(names)
    every = {".".join(parts) for name in names for parts in [name.split(".")]}
    assert all(any(pattern.matches(name) for pattern in found) for name in every)
    spelled_out = {".".join((*name.split(".")[:-1], other)) for name in names for other in ("a", "q_proj", "in", "zz")}
    assert {one for one in spelled_out if any(pattern.matches(one) for pattern in found)} == spelled_out & set(names)


def test_many_spellings_are_split_into_rows() -> None:
    found = merged([words(f"a.w{number}x") for number in range(100)])
    assert len(found) == 4
    assert all(Pattern.parse(spelled(shape)) for shape in found)
