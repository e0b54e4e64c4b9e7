"""The numbers that patterns name: every wanted place lies in a box, and no refused one does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qpolicy.analysis.inference.numbers import MOST_RANGES, Box, boxes, numbers_for
from qpolicy.analysis.inference.shapes import Numbers, spelled


@pytest.mark.parametrize(
    ("wanted", "refused", "text"),
    [
        ({3}, set(), "3"),
        ({3}, {4}, "3"),
        ({3, 7}, set(), "{0..}"),
        ({0, 1, 2}, {3, 4}, "{0..2}"),
        ({0, 1, 2, 77}, {3, 76}, "{0..2,77}"),
        ({3, 7, 11}, {1, 15}, "{3..11}"),
    ],
)
def test_the_numbers_that_are_written(wanted: set[int], refused: set[int], text: str) -> None:
    assert spelled((numbers_for(wanted, refused),)) == text


def places(size: int) -> st.SearchStrategy[set[tuple[int, ...]]]:
    return st.sets(st.tuples(*[st.integers(0, 4)] * size), max_size=20)


def inside(place: tuple[int, ...], box: Box) -> bool:
    return all(holds(numbers, value) for numbers, value in zip(box.numbers, place, strict=True))


def holds(numbers: Numbers, value: int) -> bool:
    return any(first <= value and (last is None or value <= last) for first, last in numbers.ranges)


@given(st.integers(0, 3).flatmap(lambda size: st.tuples(places(size), places(size))))
def test_boxes_hold_the_wanted_places_and_no_refused_one(
    both: tuple[set[tuple[int, ...]], set[tuple[int, ...]]],
) -> None:
    wanted, refused = both[0] - both[1], both[1]
    if not wanted:
        return
    found = boxes(wanted, refused)
    assert set().union(*(box.places for box in found)) == wanted
    assert all(inside(place, box) for box in found for place in box.places)
    assert not any(inside(place, box) for box in found for place in refused)
    assert len(found) <= len(wanted)


def test_numbers_that_one_range_tells_apart_take_one_box() -> None:
    wanted = {(layer, expert) for layer in range(3) for expert in range(8)}
    refused = {(layer, expert) for layer in range(3, 9) for expert in range(8)}
    (box,) = boxes(wanted, refused)
    assert spelled(box.numbers) == "{0..2}.{0..}"


def test_a_pattern_never_spells_hundreds_of_ranges() -> None:
    found = boxes({(2 * number,) for number in range(500)}, {(2 * number + 1,) for number in range(500)})
    assert len(found) == 8
    assert all(len(box.numbers[0].ranges) <= MOST_RANGES for box in found)
    assert sum(len(box.places) for box in found) == 500
