"""What model classes declared, and where drafts were built unquantized, in earlier versions of the engine."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import qpolicy
from qpolicy.bind import architectures
from qpolicy.bind.architectures import architecture
from qpolicy.native import draft_nulling, read_config
from qpolicy.native.versions import numbers

TABLE = Path(architectures.__file__).parents[1] / "sglang" / "architectures.json"
QWEN = ("Qwen3_5MoeForConditionalGeneration",)


def _rows() -> list[dict[str, Any]]:
    text = Path(architectures.__file__).with_name("earlier.toml").read_text()
    return list(tomllib.loads(text)["declared"])


@pytest.mark.parametrize(
    ("engine", "families"),
    [("sglang", 4), ("sglang 0.5.23", 4), ("sglang 0.5.21", 4), ("sglang 0.5.20", 0), ("sglang 0.5.9", 0)],
)
def test_a_draft_class_that_declared_nothing(engine: str, families: int) -> None:
    found = architecture(engine, QWEN, "Qwen3_5ForCausalLMMTP")
    assert found is not None
    assert len(found.packed) == families
    assert found.asked == getattr(architecture("sglang", QWEN, "Qwen3_5ForCausalLMMTP"), "asked", None)


@pytest.mark.parametrize(
    ("engine", "arch", "declares"),
    [
        ("sglang 0.5.8", "Qwen3MoeForCausalLM", False),
        ("sglang 0.5.9", "Qwen3MoeForCausalLM", True),
        ("sglang 0.5.10.post1", QWEN[0], False),
        ("sglang 0.5.11", QWEN[0], True),
        ("sglang 0.5.9", "MiniMaxM2ForCausalLM", False),
        ("sglang 0.5.10", "MiniMaxM2ForCausalLM", True),
    ],
)
def test_a_class_that_declared_nothing(engine: str, arch: str, declares: bool) -> None:
    found = architecture(engine, (arch,))
    assert found is not None
    assert ("qkv_proj" in found.packed) is declares


def test_the_rows_are_about_classes_of_the_table_and_the_oldest_come_first() -> None:
    table = json.loads(TABLE.read_text())["architectures"]
    known = {row["class"] for rows in table.values() for row in rows.values()}
    rows = _rows()
    assert all(set(row["classes"]) <= known and ".py" in row["source"] for row in rows)
    ends = [numbers(row["until"]) for row in rows]
    assert None not in ends
    assert ends == sorted(ends, key=lambda end: end or ((), 0))


@pytest.mark.parametrize(
    ("engine", "exclude", "nulled"),
    [
        ("sglang", ["mtp.fc"], False),
        ("sglang 0.5.21", ["mtp.fc"], False),
        ("sglang 0.5.20", ["mtp.fc"], True),
        ("sglang 0.5.16", ["mtp.fc"], True),
        ("sglang 0.5.11", ["mtp.fc"], False),
        ("sglang 0.5.16", ["model.layers.0.mlp.gate"], False),
        ("sglang 0.5.22", ["mtp.layers.0.mlp.experts.0.up_proj"], True),
    ],
)
def test_any_excluded_name_of_a_draft_once_left_all_of_it_unquantized(
    engine: str, exclude: list[str], nulled: bool
) -> None:
    config = read_config({"quant_method": "quark", "exclude": exclude})
    assert (draft_nulling(config, engine, QWEN[0], 48) is not None) is nulled


@pytest.mark.parametrize(
    ("engine", "layers", "nulled"),
    [
        ("sglang", ["mtp.fc"], False),
        ("sglang 0.5.20", ["mtp.fc"], False),
        ("sglang 0.5.19", ["mtp.fc"], True),
        ("sglang 0.5.19", ["model.layers.0.mlp.gate"], True),
        ("sglang 0.5.14", ["mtp.fc"], False),
    ],
)
def test_mixed_precision_once_left_every_draft_unquantized(engine: str, layers: list[str], nulled: bool) -> None:
    named = {name: {"quant_algo": "NVFP4"} for name in layers}
    config = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": named}
    assert (draft_nulling(read_config(config), engine, QWEN[0], 48) is not None) is nulled


def test_an_unknown_engine_or_version_is_answered_with_those_that_are_known() -> None:
    for engine in ("nonsense", "sglang 0.1", "sglang main"):
        with pytest.raises(qpolicy.BindError, match=r"known: sglang 0\.5\.8 to 0\.5\.23; .*transformers 4\.57\.6, 5\."):
            qpolicy.parse("qpolicy 1\n").bind(None, engine=engine)
