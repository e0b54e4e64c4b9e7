"""The ledger of what the plugin changes in SGLang; the rows are in ``ledger.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REGISTRY = "sglang.srt.plugins.hook_registry.HookRegistry.apply_hooks"
"""The row that is not attached through the registry itself."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One place of SGLang that the plugin changes; ``ledger.toml`` says what each field means."""

    target: str
    hook: str
    parameters: tuple[str, ...]
    why: str
    upstream: str
    remove_when: str
    optional: bool = False


@cache
def ledger() -> tuple[Patch, ...]:
    """Return every row, in the order of the file."""
    table = tomllib.loads(Path(__file__).with_name("ledger.toml").read_text(encoding="utf-8"))
    return tuple(Patch(**row | {"parameters": tuple(row["parameters"])}) for row in table["patch"])


def as_table() -> str:
    """Return the ledger as a table in Markdown, for docs/sglang.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "| target | why | upstream | removed when | an older SGLang may lack it |"
    yield "|---|---|---|---|---|"
    for row in ledger():
        name = row.target.removeprefix("sglang.srt.")
        yield f"| `{name}` | {row.why} | {row.upstream} | {row.remove_when} | {'yes' if row.optional else 'no'} |"
