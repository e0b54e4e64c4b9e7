"""Lists that are written: each dialect on each engine that reads it, and the parts that choose the entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_checkpoint

import qpolicy
from qpolicy.analysis.exporting import SLOTS, CannotSayError, export
from qpolicy.analysis.exporting.choose import choose
from qpolicy.analysis.exporting.spellings import spellings
from qpolicy.analysis.inference.shapes import REST, Numbers, Shape, Words, spelled
from qpolicy.native import read_config
from qpolicy.native.records import find_record
from qpolicy.paths import Pattern

LAYERS = {
    f"model.layers.{layer}.{module}": "packed"
    for layer in (0, 1, 10)
    for module in ("mlp.gate", "mlp.gate_proj", "mlp.up_proj", "self_attn.q_proj", "self_attn.o_proj")
}
READ = [
    (dialect, engine)
    for dialect in SLOTS
    for engine in ("sglang", "vllm", "transformers")
    if find_record(dialect, engine, read_config(SLOTS[dialect].config).variant)
]
NEVER_ASKED = {("gptq", "transformers")}
"""Here only what is quantized is listed, and that is not written."""


@pytest.mark.parametrize(("dialect", "engine"), [one for one in READ if one not in NEVER_ASKED])
def test_a_policy_in_every_dialect_on_every_engine(tmp_path: Path, dialect: str, engine: str) -> None:
    policy = qpolicy.parse("qpolicy 1\nmodel.layers.1.**, **.o_proj: unquantized\notherwise: quantized\n")
    checkpoint = small_checkpoint(tmp_path, LAYERS, dict(SLOTS[dialect].config))
    exported = export(checkpoint, policy, dialect, engine=engine)
    assert (exported.own, exported.checked) == (True, 12)
    assert 1 <= len(exported.entries) <= (7 if (dialect, engine) == ("fp8", "vllm") else 4)
    assert set(exported.values) <= set(SLOTS[dialect].keys)


def test_there_are_readings_to_export_to() -> None:
    assert {engine for _, engine in READ} == {"sglang", "vllm", "transformers"}
    assert {dialect for dialect, engine in READ if engine == "sglang"} == set(SLOTS)


def test_half_a_segment_is_never_taken_for_a_whole_one(tmp_path: Path) -> None:
    """Where names are compared as substrings, a router cannot be listed without its sibling."""
    checkpoint = small_checkpoint(tmp_path, LAYERS, dict(SLOTS["awq"].config))
    policy = qpolicy.parse("qpolicy 1\n**.mlp.gate: unquantized\notherwise: quantized\n")
    with pytest.raises(CannotSayError, match="also fits a layer that is to be quantized"):
        export(checkpoint, policy, "awq")


def test_experts_that_no_list_reaches_are_an_error(tmp_path: Path) -> None:
    states = {f"model.layers.{layer}.mlp.experts.0.up_proj": "packed" for layer in (0, 1)}
    checkpoint = small_checkpoint(tmp_path, states, dict(SLOTS["gptq"].config))
    policy = qpolicy.parse("qpolicy 1\nmodel.layers.0.**: unquantized\notherwise: quantized\n")
    with pytest.raises(CannotSayError, match=r"model\.layers\.0\.mlp\.experts unquantized"):
        export(checkpoint, policy, "gptq")


def test_without_a_policy_the_list_is_written_anew(tmp_path: Path) -> None:
    quantization = {
        **SLOTS["fp8"].config,
        "modules_to_not_convert": [name for name in LAYERS if name.endswith(".gate")],
    }
    assert export(small_checkpoint(tmp_path, LAYERS, quantization), None, "fp8").entries == ("gate",)


UNITS = st.tuples(st.booleans(), st.tuples(st.sampled_from("abcdef"), st.just("linear")))


@given(st.sets(UNITS), st.dictionaries(st.text("xyz", min_size=1, max_size=3), st.sets(UNITS), max_size=6))
def test_all_that_can_be_covered_is_and_no_entry_is_for_nothing(
    wanted: set[tuple[bool, tuple[str, str]]], touched: dict[str, set[tuple[bool, tuple[str, str]]]]
) -> None:
    chosen, left = choose(wanted, touched)
    covered = {unit for text in chosen for unit in touched[text]}
    assert wanted - covered == set(left) == wanted - {unit for found in touched.values() for unit in found}
    for text in chosen:
        others = {unit for other in chosen if other != text for unit in touched[other]}
        assert (touched[text] & wanted) - others


SEGMENTS = st.sampled_from(
    (
        Words(("mlp",)),
        Words(("q_proj", "k_proj")),
        Words(("a+b",)),
        Numbers(((0, 2), (7, 7))),
        Numbers(((0, None),)),
        REST,
    )
)
NAMES = st.lists(st.sampled_from(("mlp", "q_proj", "0", "2", "3", "7", "x", "aab", "a+b")), min_size=1, max_size=5)


@given(st.lists(SEGMENTS, min_size=1, max_size=4).map(tuple), NAMES.map(".".join))
def test_the_regular_expression_of_a_pattern_matches_what_the_pattern_does(shape: Shape, name: str) -> None:
    record = find_record("quark", "sglang")
    assert record is not None
    (text,) = [text for text in spellings([shape], [], record, "") if text.startswith("re:")]
    assert (re.match(text.removeprefix("re:"), name) is not None) == Pattern.parse(spelled(shape)).matches(name)
