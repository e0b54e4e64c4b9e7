"""Reads the parts of a Markdown file that can be executed: fenced blocks and tables, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the word after its fence, its text, and the line that it begins on."""

    tag: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the words of its header, the cells of its rows, and the line that it begins on."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    line: int


def pieces(path: Path) -> list[Block | Table]:
    """Return the blocks and tables of a file in order."""
    found: list[Block | Table] = []
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            found.append(Block(line.strip("`"), _fenced(lines), number))
        elif line.startswith("|"):
            rows = tuple(_cells(row) for row in (line, *_while_bar(lines)))
            found.append(Table(rows[0], rows[2:], number))
    return found


def blocks(path: Path, tag: str) -> list[Block]:
    """Return the blocks with one tag."""
    return [piece for piece in pieces(path) if isinstance(piece, Block) and piece.tag == tag]


def codes(cell: str) -> list[str]:
    """Return what stands in backquotes in a table's cell; a bar is written with a backslash there."""
    return [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell)]


def _fenced(lines: Iterator[tuple[int, str]]) -> str:
    inside: list[str] = []
    for _, line in lines:
        if line.startswith("```"):
            break
        inside.append(line + "\n")
    return "".join(inside)


def _while_bar(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for _, line in lines:
        if not line.startswith("|"):
            return
        yield line


def _cells(row: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))
