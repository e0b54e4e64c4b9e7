from __future__ import annotations

from itertools import permutations

import pytest

from qpolicy.native.records import engines_and_versions, every_record, find_record, knows_engine, span
from qpolicy.native.versions import engine_and_version, joined, lies_between, numbers


@pytest.mark.parametrize(
    ("version", "since", "until", "within"),
    [
        ("0.5.16", "0.5.13", "0.5.23", True),
        ("0.5.13", "0.5.13", "0.5.23", True),
        ("0.5.23", "0.5.13", "0.5.23", True),
        ("0.5.9", "0.5.13", "0.5.23", False),
        ("0.5.10.post1", "0.5.10", "0.5.10", False),
        ("0.5.10.post1", "0.5.10", "0.5.11", True),
        ("0.5.9", "", "0.5.10", True),
        ("0.6", "0.5.13", "", True),
        ("main", "", "", False),
        ("", "", "0.5.23", False),
        ("0.5.9", "abc", "0.5.23", False),
    ],
)
def test_versions_compare_by_their_numbers(version: str, since: str, until: str, within: bool) -> None:
    assert lies_between(version, since, until) is within


def test_what_is_no_number_has_none() -> None:
    assert numbers("0043d6b5") is None
    assert numbers("0.5.10.post1") == ((0, 5, 10), 1)
    assert engine_and_version("sglang 0.5.16") == ("sglang", "0.5.16")
    assert engine_and_version("sglang") == ("sglang", "")


def test_spans_that_overlap_are_told_as_one() -> None:
    spans = [("0.5.13", "0.5.23"), ("", "0.5.9"), ("0.5.8", "0.5.16"), ("", "0043d6b5"), ("", "0.4.1")]
    assert joined(spans) == ("0.4.1", "0.5.8 to 0.5.23", "0043d6b5")
    assert joined([]) == ()


def test_a_version_between_two_is_read_as_both() -> None:
    newest, earlier = find_record("fp8", "sglang"), find_record("fp8", "sglang 0.5.16")
    assert newest is earlier
    older = find_record("fp8", "sglang 0.5.10")
    assert older is not None
    assert span(older) == "0.5.10 to 0.5.10.post1"
    assert find_record("fp8", "sglang 0.5.8") is None
    assert find_record("modelopt", "sglang 0.5.16", "nvfp4") is not find_record("modelopt", "sglang", "nvfp4")


@pytest.mark.parametrize("name", ["sglang", "sglang 0.5.16", "transformers 5.19.0", "vllm 0.10.1.1", "vllm-humming"])
def test_engines_are_known_by_name_and_by_version(name: str) -> None:
    assert knows_engine(name)


@pytest.mark.parametrize("name", ["sglang 0.5.7", "sglang 0.6", "sglang main", "transformers 5.20", "nonsense"])
def test_no_version_is_guessed(name: str) -> None:
    assert not knows_engine(name)


def test_no_two_readings_hold_for_one_version() -> None:
    for one, other in permutations(every_record(), 2):
        alike = (one.dialect, one.engine) == (other.dialect, other.engine)
        if alike and (not one.variants or set(one.variants) & set(other.variants)):
            assert not (other.since and lies_between(one.version, other.since, other.version)), (one, other)


def test_the_default_engine_is_listed_first() -> None:
    first, *others = engines_and_versions()
    assert first == "sglang 0.5.8 to 0.5.23"
    assert "transformers 4.57.6, 5.19.0, 5.24.0" in others
