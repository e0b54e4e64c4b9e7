"""Entries in a syntax that an engine compares letter by letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qpolicy.analysis.entries.intended import Syntax, meaning
from qpolicy.analysis.entries.translate import clauses_for
from qpolicy.bind import World
from qpolicy.native import Entry
from qpolicy.native.records import Record, class_names, find_record, producer_of

_KINDS = ("linear", "moe", "lm_head", "embedding")
_NUMBER = re.compile(r"\d+")
_SPEAKS = ("regex", "glob", "wildcard", "pattern")


@dataclass(frozen=True, slots=True)
class Literal:
    """Entries of one syntax that are alike but for their numbers.

    Attributes:
        syntax: How they are written.
        entries: The entries.
        modules: The stored modules that they would name if they were read so.
        operators: How the engine compares them instead.
    """

    syntax: Syntax
    entries: tuple[Entry, ...]
    modules: tuple[str, ...]
    operators: tuple[str, ...]


def taken_literally(world: World, names: Iterable[str]) -> tuple[Literal, ...]:
    """Find the class names, globs and regular expressions that an engine compares as plain text.

    Args:
        world: The checkpoint and who reads its list.
        names: The stored modules whose names are compared.
    """
    if world.config is None:
        return ()
    record = find_record(world.config.dialect, world.engine, world.config.variant)
    if record is None:
        return ()
    known = tuple(names)
    groups: dict[tuple[Syntax, str], list[Entry]] = {}
    for entry in world.config.entries:
        syntax = meaning(entry.text).syntax
        if entry.key in (*record.lists, *(record.section_lists or ())) and _is_lost(entry, syntax, record):
            groups.setdefault((syntax, _NUMBER.sub("0", entry.text)), []).append(entry)
    return tuple(_literal(world, record, syntax, entries, known) for (syntax, _), entries in groups.items())


def _is_lost(entry: Entry, syntax: Syntax, record: Record) -> bool:
    clauses = clauses_for(entry, record)
    if syntax == "name" or not clauses:
        return False
    if syntax == "class":
        return not any("class" in step for step in record.steps)
    if entry.text.startswith("re:") and not any(clause.prefix for clause in clauses):
        return True
    return not any(word in operator for clause in clauses for operator in clause.operators for word in _SPEAKS)


def _literal(world: World, record: Record, syntax: Syntax, entries: list[Entry], names: tuple[str, ...]) -> Literal:
    operators = [operator for clause in clauses_for(entries[0], record) for operator in clause.operators]
    modules = dict.fromkeys(name for entry in entries for name in _meant(world, entry, syntax, names))
    return Literal(syntax, tuple(entries), tuple(modules), tuple(operators))


def _meant(world: World, entry: Entry, syntax: Syntax, names: tuple[str, ...]) -> Iterator[str]:
    if syntax != "class":
        fits = meaning(entry.text).fits
        yield from (name for name in names if any(map(fits, world.stored.aliases(name))))
        return
    producer = find_record(record_dialect(world), producer_of(record_dialect(world)) or "")
    for name in names if producer else ():
        kind = world.stored.modules[name].kind or ""
        if producer and kind in _KINDS and entry.text in class_names(producer.classes, kind, name.rpartition(".")[2]):
            yield name


def record_dialect(world: World) -> str:
    """Return the dialect of the checkpoint's list; empty without one."""
    return world.config.dialect if world.config else ""
