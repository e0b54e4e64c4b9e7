"""Lays out the table of layers, as wide as the terminal or, elsewhere, as wide as it needs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qpolicy.cli.folding import Row
from qpolicy.cli.terminal import paint_for
from qpolicy.lint.reporters.escape import escape
from qpolicy.lint.reporters.paint import plain

_UNBOUNDED = 100_000
_STYLES = {"error": "bold red", "unknown": "bold yellow"}


def columns(rows: Sequence[Row]) -> str:
    """Return rows as aligned columns under a header; a column that says nothing is left out."""
    return laid_out(_cells(rows))


def laid_out(cells: Mapping[str, Sequence[Text]]) -> str:
    """Return columns, each under its title, as aligned lines."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in cells:
        table.add_column(title, overflow="fold")
    for line in zip(*cells.values(), strict=True):
        table.add_row(*line)
    console = _console()
    console.print(table)
    output = console.file
    assert isinstance(output, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def _cells(rows: Sequence[Row]) -> dict[str, list[Text]]:
    cells = {
        "layer": [_text(row.name) for row in rows],
        "stored": [_text("" if row.stored == row.name else row.stored) for row in rows],
        "layers": [_text("" if row.count == 1 else str(row.count)) for row in rows],
        "kind": [_text(row.kind) for row in rows],
        "decision": [_text(row.outcome, _STYLES.get(row.outcome, "")) for row in rows],
        "by": [_text(row.by) for row in rows],
        "on disk": [_text(row.on_disk) for row in rows],
    }
    return {title: column for title, column in cells.items() if any(column)}


def _text(value: str, style: str = "") -> Text:
    return Text(escape(value), style)


def _console() -> Console:
    coloured = paint_for(sys.stdout) is not plain
    return Console(
        file=StringIO(),
        width=shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBOUNDED,
        color_system="standard" if coloured else None,
        force_terminal=coloured,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
