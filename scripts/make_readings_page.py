"""Writes docs/readings.md: who reads which dialect of native lists, how, and what of it is not followed.

Run it after a change to qpolicy/native/readings.
"""

from __future__ import annotations

from pathlib import Path

from qpolicy.native.records import Clause, Record, every_record, producer_of, span

PAGE = Path(__file__).parents[1] / "docs" / "readings.md"

_HEAD = """\
# How native lists are read

Written by `scripts/make_readings_page.py` from the records in `qpolicy/native/readings`, whose README explains the
words. An engine or dialect that is not here is unknown: its lists get a finding and no guess.

Under each dialect stand, for every engine: which lists it reads, how an entry is compared (the operators, with anchor
and scope where they are not those of the word itself), in which order it comes to exclude a layer (the steps; `shards`
and `family` are about fused layers), what is otherwise for experts, which other layers it quantizes, where all that can
be checked, and what of the engine's reading the record cannot say.

`0.5.13 to 0.5.23` means that the code was the same in all versions between the two. Of the versions of an engine the
newest answers to the bare name; `--engine "sglang 0.5.16"` asks for another one.
"""


def page() -> str:
    """Return the text of the page."""
    dialects = dict.fromkeys(record.dialect for record in every_record())
    return "\n".join([_HEAD, *(_section(dialect) for dialect in dialects)])


def _section(dialect: str) -> str:
    records = [record for record in every_record() if record.dialect == dialect]
    rows = [_row(record) for record in records]
    table = ["| engine | lists | operators | steps | experts | also |", "|---|---|---|---|---|---|", *rows, ""]
    notes = [note for record in records for note in _notes(record)]
    title = f"## {dialect}\n\nThe producer's reading is that of `{producer_of(dialect)}`.\n"
    return "\n".join([title, *table, *dict.fromkeys(notes), ""])


def _name(record: Record) -> str:
    variants = f" ({', '.join(record.variants)})" if record.variants else ""
    return f"{record.engine} {span(record)}{variants}"


def _row(record: Record) -> str:
    also = tuple(kind for kind in record.kinds if kind not in ("linear", "moe"))
    keys = _words((*record.lists, *record.lists_behind, *record.included))
    if record.section_lists is not None:
        keys += f"; in a file of its own {_words(record.section_lists)}"
    cells = (_name(record), keys, _operators(record), _words(record.steps), _experts(record), _words(also))
    return f"| {' | '.join(cells)} |"


def _operators(record: Record) -> str:
    clauses = [*record.clauses, *record.pattern_clauses, *(one for tier in record.tiers for one in tier.clauses)]
    return ", ".join(dict.fromkeys(_operator(clause, operator) for clause in clauses for operator in clause.operators))


def _operator(clause: Clause, operator: str) -> str:
    how = [str(clause.options[key]) for key in ("mode", "scope") if key in clause.options]
    return f"`{clause.prefix}{operator}`" + (f" ({', '.join(how)})" if how else "")


def _experts(record: Record) -> str:
    plan = record.kinds.get("moe")
    if plan is None:
        return "never quantized"
    asked = f"asked as {_words(plan.asked_as)}; " if plan.asked_as else ""
    first = f"{plan.first.scheme} unless `{', '.join(plan.first.lists)}` excludes them; " if plan.first else ""
    if plan.list_steps is not None:
        steps = _words(plan.list_steps) if plan.list_steps else "the list is not consulted"
    else:
        steps = "the same steps"
    excluded = "" if plan.excluded == "unquantized" else f"; an excluded one is {plan.excluded}"
    return f"{first}{asked}{steps}{excluded}"


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "none"


def _notes(record: Record) -> list[str]:
    source = "; ".join(record.source)
    limits = [f"  - Not followed: {limit}." for limit in record.limits]
    return ["\n".join([f"- {_name(record)}: {source}", *limits])]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
