"""Runs the examples of docs/mtp.md: every row of a table is a checkpoint that is checked without and with a policy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from documents import ROOT, Block, codes, pieces
from tiny_checkpoint import opened

import qpolicy
from qpolicy.lint.run import run_checks
from qpolicy.native import draft_nulling, read_config

PAGE = ROOT / "docs" / "mtp.md"
ROWS = ("without a policy", "with the policy", "what it prevents")


@dataclass(frozen=True)
class Row:
    """A row of a table, with the last checkpoint and policy above it."""

    line: int
    described: str
    policy: str
    key: str
    entries: tuple[str, ...]
    without: str
    under: str


def rows() -> Iterator[Row]:
    described = policy = ""
    for piece in pieces(PAGE):
        if isinstance(piece, Block):
            described = piece.text if piece.tag == "checkpoint" else described
            policy = piece.text if piece.tag == "qpolicy" else policy
        elif piece.header[1:] == ROWS:
            (key,) = codes(piece.header[0])
            for number, (entries, without, under, _) in enumerate(piece.rows):
                yield Row(piece.line + 2 + number, described, policy, key, tuple(codes(entries)), without, under)


ALL = list(rows())


def with_entries(row: Row) -> str:
    """The description of the row's checkpoint, with its entries in the list."""
    stored, _, text = row.described.partition('{"')
    config = json.loads('{"' + text)
    added_to = config["quantization_config"][row.key]
    if isinstance(added_to, dict):
        added_to |= dict.fromkeys(row.entries, next(iter(added_to.values())))
    else:
        added_to += row.entries
    return stored + json.dumps(config)


def found(row: Row, folder: Path, policy: str | None) -> str:
    """What a check finds that makes its exit code 1, as the table writes it."""
    checkpoint = opened(folder / "checkpoint", with_entries(row))
    assert checkpoint.draft_modules and not checkpoint.problems
    findings = run_checks(checkpoint, None if policy is None else qpolicy.parse(policy)).findings
    counted = sorted({f"`{finding.code}`" for finding in findings if str(finding.severity) != "info"})
    return ", ".join(counted) or "clean"


@pytest.mark.parametrize("row", ALL, ids=lambda row: f"line {row.line}")
def test_row_without_a_policy(row: Row, tmp_path: Path) -> None:
    assert found(row, tmp_path, None) == row.without


@pytest.mark.parametrize("row", ALL, ids=lambda row: f"line {row.line}")
def test_row_with_the_policy(row: Row, tmp_path: Path) -> None:
    assert found(row, tmp_path, row.policy) == row.under


def test_every_example_of_the_page_is_used() -> None:
    blocks = [piece for piece in pieces(PAGE) if isinstance(piece, Block) and piece.tag == "checkpoint"]
    assert {row.described for row in ALL} == {block.text for block in blocks}
    assert len(ALL) > 20


def test_general_policy_makes_every_forgotten_plain_head_clean(tmp_path: Path) -> None:
    general = next(piece for piece in pieces(PAGE) if isinstance(piece, Block) and piece.tag == "qpolicy")
    forgotten = [row for row in ALL if not row.entries and "QP303" in row.without]
    assert len(forgotten) >= 8
    for number, row in enumerate(forgotten):
        assert found(row, tmp_path / str(number), general.text) == "clean", row.line


NVFP4 = {"quant_algo": "NVFP4", "group_size": 16}
NULLED: list[tuple[str, str, dict[str, Any]]] = [
    ("Quark", "Qwen3_5ForCausalLM", {"quant_method": "quark", "exclude": ["mtp.layers.0.mlp.experts_x"]}),
    ("ModelOpt NVFP4", "Qwen3_5ForCausalLM", {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": []}),
    (
        "ModelOpt mixed precision",
        "Qwen3_5ForCausalLM",
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": NVFP4}},
    ),
    ("ModelOpt NVFP4", "Glm4MoeForCausalLM", {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": []}),
    ("Quark", "DeepseekV3ForCausalLM", {"quant_method": "quark", "exclude": ["re:model.layers.1.*"]}),
]


def test_rules_that_take_the_config_away_are_those_of_the_table() -> None:
    (table,) = (piece for piece in pieces(PAGE) if not isinstance(piece, Block) and piece.header[0] == "draft of")
    assert [row[1] for row in table.rows] == [method for method, _, _ in NULLED]
    for _, architecture, quantization in NULLED:
        assert draft_nulling(read_config(quantization), "sglang", architecture, 1)
