"""Comments of an imported policy: what the list's entries do that nobody would expect of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qpolicy.analysis.entries import meaning, siblings, taken_literally, translate
from qpolicy.analysis.importing.answers import Answered
from qpolicy.native import Entry
from qpolicy.native.records import Record

_SHOWN = 8
_NUMBER = re.compile(r"\d+")


def notes(answers: Sequence[Answered], record: Record | None) -> tuple[str, ...]:
    """Return comment lines, without their sign, about entries that match nothing, catch siblings or are not read.

    Args:
        answers: What the engine makes of every layer.
        record: How it reads the entries.
    """
    if not answers or record is None:
        return ()
    world = answers[0].matcher.binding.world
    entries = world.config.entries if world.config else ()
    return (
        *_titled("Entries that match nothing here:", _lines(_unmatched(answers, entries))),
        *_titled("Entries that catch modules which no entry names:", _sibling_lines(answers)),
        *_titled(f"Entries that {world.engine} compares letter by letter:", _literal_lines(answers)),
        *_titled("Said by the modules that they match here, for no pattern says them:", _unsaid(entries, record)),
    )


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield title
        yield from (f"  {line}" for line in found[:_SHOWN])
        if len(found) > _SHOWN:
            yield f"  and {len(found) - _SHOWN} more such lines"


def _unmatched(answers: Sequence[Answered], entries: Iterable[Entry]) -> list[Entry]:
    touched: set[Entry] = set()
    for one in answers:
        reading = one.matcher.binding.world.reading
        if reading is not None:
            touched.update(reading.matching(one.ask.name, one.ask.kind))
    return [entry for entry in entries if entry not in touched]


def _lines(entries: Iterable[Entry]) -> Iterator[str]:
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_NUMBER.sub("0", entry.text), []).append(entry)
    return (called(found) for found in groups.values())


def called(entries: Sequence[Entry]) -> str:
    """Return how entries that are alike are called: the first one, with how many more there are."""
    more = f" and {len(entries) - 1} alike" if len(entries) > 1 else ""
    return f"{entries[0].text!a} ({entries[0].where.rpartition(': ')[2]}){more}"


def _sibling_lines(answers: Sequence[Answered]) -> Iterator[str]:
    for matcher in dict.fromkeys(one.matcher for one in answers):
        own = [(one.ask, one.answer) for one in answers if one.matcher is matcher]
        for caught in siblings(matcher, own):
            more = f" and {len(caught.modules) - 1} more" if len(caught.modules) > 1 else ""
            yield f"{called(caught.entries)} catches {ascii(caught.modules[0])[1:-1]}{more}"


def _literal_lines(answers: Sequence[Answered]) -> Iterator[str]:
    world = answers[0].matcher.binding.world
    for found in taken_literally(world, world.stored.modules):
        yield f"{called(found.entries)}, which reads as a {found.syntax}"


def _unsaid(entries: Iterable[Entry], record: Record) -> Iterator[str]:
    lost = [one for one in entries if meaning(one.text).syntax != "name" and not translate(one, record).patterns]
    return _lines(lost)
