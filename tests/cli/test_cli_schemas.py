"""What each command prints as JSON fits the schema that is published for it, which says all of its keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import schemas
from commandline import faulty, policy, run, with_draft
from documents import ROOT, Table, codes, pieces

from qpolicy.cli.main import main

DECIDING = "drop @heads if exists(x.y)\n**.q_proj, **.qkv_proj when draft: quantized\nlm_head: unquantized"

# The words of a command line, as `str.format` fills them in, with the schema of what it prints.
SHOWN = [
    ("check {draft} {faulty}", "findings-1.json"),
    ("check {draft} --policy {deciding}", "findings-1.json"),
    ("lint {deciding} {shadowed} {broken}", "findings-1.json"),
    ("decide {draft} lm_head nowhere model.layers.0.self_attn.qkv_proj --policy {refusing}", "decisions-1.json"),
    ("decide {draft} mtp.fc --draft", "decisions-1.json"),
    ("table {draft}", "layers-1.json"),
    ("table {draft} --policy {refusing}", "layers-1.json"),
    ("coverage {draft} --policy {deciding}", "coverage-1.json"),
    ("diff {deciding} {deciding}", "comparison-1.json"),
    ("diff {deciding} {refusing} {draft}", "comparison-1.json"),
    ("diff {hard} {harder}", "comparison-1.json"),
]
WITH_ENGINE = {"sglang doctor": "doctor-1.json", "sglang rehearse": "rehearsal-1.json"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {
        "draft": with_draft(tmp_path),
        "faulty": faulty(tmp_path),
        "deciding": policy(tmp_path / "deciding.qpolicy", f"let heads = mtp.**\n{DECIDING}"),
        "refusing": policy(tmp_path / "refusing.qpolicy", '**.q_proj: error "no"\nwhen has(weight_packed): quantized'),
        "shadowed": ROOT / "docs" / "examples" / "shadowed.qpolicy",
        "broken": policy(tmp_path / "broken.qpolicy", "lm_head: unquantised"),
        "hard": policy(tmp_path / "hard.qpolicy", f"**.a{'.?' * 14}: native"),
        "harder": policy(tmp_path / "harder.qpolicy", f"**.b{'.?' * 14}: native"),
    }


@pytest.mark.parametrize(("line", "schema"), SHOWN)
def test_what_is_printed_fits_its_schema(line: str, schema: str, files: dict[str, Path]) -> None:
    ran = run(*line.format(**files).split(), "--format", "json")
    schemas.of(schema).validate(ran.json)


def printing_json(group: click.Group, context: click.Context, *path: str) -> Iterator[str]:
    """The commands below a group that print JSON."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from printing_json(command, context, *path, name)
        elif any("json" in getattr(parameter.type, "choices", ()) for parameter in command.params):
            yield " ".join([*path, name])


def test_every_command_that_prints_json_has_a_schema_that_is_listed() -> None:
    (table,) = [
        piece
        for piece in pieces(ROOT / "docs" / "integration.md")
        if isinstance(piece, Table) and piece.header[:1] == ("schema",)
    ]
    listed = {command: row[0] for row in table.rows for command in codes(row[1])}
    tried = {line.split()[0]: schema for line, schema in SHOWN} | WITH_ENGINE
    assert set(tried) == set(printing_json(main, click.Context(main)))
    assert listed == {f"qpolicy {command}": f"[{schema}](schema/{schema})" for command, schema in tried.items()}
    assert set(tried.values()) == {path.name for path in schemas.FOLDER.iterdir()}
