from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qpolicy.native.vocabulary import OPERATORS


def _segment_run(entry: str, name: str) -> bool:
    entry, name = entry.rstrip("."), name.rstrip(".")
    return entry == name or f".{entry}." in f".{name}."


def _widened(entry: str) -> str:
    return entry.replace(".", r"\.").replace("*", ".*")


SLOW: dict[str, Callable[[str, str], bool]] = {
    "equality": lambda entry, name: entry == name,
    "dotted-suffix": lambda entry, name: entry == name or name.endswith("." + entry),
    "raw-suffix": lambda entry, name: name.endswith(entry),
    "segment-run": _segment_run,
    "glob": lambda entry, name: fnmatch.fnmatchcase(name, entry),
    "regex": lambda entry, name: re.match(entry, name) is not None,
    "glob-of-parent": lambda entry, name: entry.endswith(".*") and fnmatch.fnmatchcase(name, entry[:-2]),
    "substring": lambda entry, name: entry in name,
    "substring-any-case": lambda entry, name: entry.lower() in name.lower(),
    "leaf": lambda entry, name: name.split(".")[-1] == entry,
    "name-in-entry": lambda entry, name: "*" not in entry and name in entry,
    "starred-glob": lambda entry, name: "*" in entry and fnmatch.fnmatchcase(name, entry),
    "raw-prefix": lambda entry, name: name.startswith(entry),
    "other-regex": lambda entry, name: re.match(entry, name) is not None,
    "wildcard": lambda entry, name: re.fullmatch(_widened(entry), name) is not None,
    "wildcard-segment": lambda entry, name: any(re.fullmatch(_widened(entry), one) for one in name.split(".")),
    "tail": lambda entry, name: (
        entry.rpartition(".")[2] in TAILS and entry.rpartition(".")[2] in name.rpartition(".")[2]
    ),
}
TAILS = ("gate", "a")
OPTIONS = {"tails": TAILS}
SEGMENTS = st.sampled_from(("a", "b", "gate", "gate_proj", "1", "11", "mlp", ""))
NAMES = st.lists(SEGMENTS, min_size=1, max_size=5).map(".".join)
GLOBS = st.lists(
    st.sampled_from(("a", "b", "*", "**", "?", ".", "[ab]", "[!a]", "[", "]", "[]a]", "[*]", "1")), max_size=6
).map("".join)


def test_every_operator_has_a_slow_definition() -> None:
    assert SLOW.keys() == OPERATORS.keys()


@settings(max_examples=300)
@pytest.mark.parametrize("operator", sorted(SLOW.keys() - {"glob"}))
@given(entries=st.lists(NAMES, max_size=6), name=NAMES)
def test_looking_up_is_comparing_one_by_one(operator: str, entries: list[str], name: str) -> None:
    loaded = OPERATORS[operator](list(enumerate(entries)), OPTIONS)
    assert sorted(set(loaded.fitting(name))) == [
        place for place, entry in enumerate(entries) if SLOW[operator](entry, name)
    ]


@settings(max_examples=400)
@given(entries=st.lists(GLOBS, max_size=4), name=st.text(alphabet="ab.1[]*\n", max_size=8))
def test_globs_are_those_of_the_standard_library(entries: list[str], name: str) -> None:
    loaded = OPERATORS["glob"](list(enumerate(entries)), {})
    assert sorted(loaded.fitting(name)) == [
        place for place, entry in enumerate(entries) if fnmatch.fnmatchcase(name, entry)
    ]


@settings(max_examples=200)
@pytest.mark.parametrize("mode", ["match", "fullmatch", "search"])
@given(
    parts=st.lists(st.sampled_from(("a", "b", ".", ".*", "(a|b)", "$", "^", r"\.", "[ab]+", "a?")), max_size=5),
    flags=st.sampled_from(("", "(?i)", "(?x)", "(?s)(?i)")),
    name=st.text(alphabet="abA.\n", max_size=6),
)
def test_expressions_are_anchored_as_the_standard_library_does(
    parts: list[str], flags: str, mode: str, name: str
) -> None:
    text = flags + "".join(parts)
    loaded = OPERATORS["regex"]([(0, text)], {"mode": mode})
    # Some of them would be too costly, which is said when they are loaded.
    assume(not loaded.broken)
    assert list(loaded.fitting(name)) == [0] * (getattr(re, mode)(text, name) is not None)


def test_what_closes_a_group_is_broken_in_every_mode() -> None:
    for mode in ("match", "fullmatch", "search"):
        assert list(OPERATORS["regex"]([(0, ")(")], {"mode": mode}).broken) == [0]
    options = {"mode": "fullmatch", "broken": "ignored", "only": "special"}
    loaded = OPERATORS["regex"]([(0, ")("), (1, "a.c"), (2, "a.c.*")], options)
    assert not loaded.broken
    assert list(loaded.fitting("abc")) == [2]


def test_many_expressions_are_tried_behind_joint_ones() -> None:
    entries = [rf"model.layers.{number}\." for number in range(350)]
    loaded = OPERATORS["regex"](list(enumerate(entries)), {})
    assert list(loaded.fitting("model.layers.311.mlp")) == [311]
    assert list(loaded.fitting("model.layers.11.mlp")) == [11]
    assert list(loaded.fitting("lm_head")) == []


@settings(max_examples=150, deadline=None)
@pytest.mark.filterwarnings("ignore:Possible nested set")
@pytest.mark.parametrize("operator", ["wildcard", "wildcard-segment"])
@given(entries=st.lists(GLOBS, max_size=4), name=NAMES)
def test_wildcards_are_half_text_half_expression(operator: str, entries: list[str], name: str) -> None:
    loaded = OPERATORS[operator](list(enumerate(entries)), {})
    fitting = set(loaded.fitting(name))
    for place, entry in enumerate(entries):
        if place in loaded.broken:
            with pytest.raises(re.error):
                re.compile(_widened(entry))
        else:
            assert (place in fitting) == SLOW[operator](entry, name), entry


def test_what_only_another_library_understands_is_refused_not_called_broken() -> None:
    loaded = OPERATORS["wildcard"](list(enumerate(["a[b](?i)*", "^?a", "*(", "(*"])), {})
    assert {place: error.broken for place, error in loaded.broken.items()} == {0: False, 1: False, 2: True, 3: True}
