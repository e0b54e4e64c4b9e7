"""Writes docs/readings.md: who reads which dialect of native lists, how, and what of it is not followed.

Run it after a change to qpolicy/native/readings.
"""

from __future__ import annotations

from pathlib import Path

from qpolicy.native.records import Record, every_record, producer_of

PAGE = Path(__file__).parents[1] / "docs" / "readings.md"

_HEAD = """\
# How native lists are read

Written by `scripts/make_readings_page.py` from the records in `qpolicy/native/readings`, whose README explains the
words. An engine or dialect that is not here is unknown: its lists get a finding and no guess.

Under each dialect stand, for every engine: how an entry is compared (the operators), in which order it comes to exclude
a module (the steps), where that can be checked, and what of the engine's reading the record cannot say.
"""


def page() -> str:
    """Return the text of the page."""
    dialects = dict.fromkeys(record.dialect for record in every_record())
    return "\n".join([_HEAD, *(_section(dialect) for dialect in dialects)])


def _section(dialect: str) -> str:
    records = [record for record in every_record() if record.dialect == dialect]
    rows = [f"| {_name(record)} | {_operators(record)} | {_words(_steps(record))} |" for record in records]
    table = ["| engine | operators | steps |", "|---|---|---|", *dict.fromkeys(rows), ""]
    notes = [note for record in records for note in _notes(record)]
    title = f"## {dialect}\n\nThe producer's reading is that of `{producer_of(dialect)}`.\n"
    return "\n".join([title, *table, *dict.fromkeys(notes), ""])


def _name(record: Record) -> str:
    variants = f" ({', '.join(record.variants)})" if record.variants else ""
    return f"{record.engine} {record.version}{variants}"


def _operators(record: Record) -> str:
    clauses = [*record.clauses, *record.pattern_clauses, *(one for tier in record.tiers for one in tier.clauses)]
    found = (f"{clause.prefix} {operator}".strip() for clause in clauses for operator in clause.operators)
    return _words(tuple(dict.fromkeys(found)))


def _steps(record: Record) -> tuple[str, ...]:
    own = [plan.list_steps or () for plan in record.kinds.values()]
    return tuple(dict.fromkeys(step for steps in (record.steps, *own) for step in steps))


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "none"


def _notes(record: Record) -> list[str]:
    source = "; ".join(record.source)
    limits = [f"  - Not followed: {limit}." for limit in record.limits]
    return ["\n".join([f"- {_name(record)}: {source}", *limits])]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
