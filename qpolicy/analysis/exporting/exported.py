"""Exports a policy: decides, chooses entries, and reads them back as the engine would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from qpolicy.analysis.exporting.choose import choose
from qpolicy.analysis.exporting.errors import CannotSayError, listed
from qpolicy.analysis.exporting.slots import SLOTS, Slot
from qpolicy.analysis.exporting.spellings import literal_regex, spellings
from qpolicy.analysis.exporting.units import Unit, members, units
from qpolicy.analysis.exporting.wishes import Wish, wishes, worlds
from qpolicy.analysis.importing.answers import engine_answers
from qpolicy.analysis.inference.cover import cover
from qpolicy.analysis.inference.refused import Refused
from qpolicy.analysis.inference.shapes import Shape
from qpolicy.bind import Policy, World
from qpolicy.bind.consulted import consulted, with_config
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import QPolicyError
from qpolicy.native import Answer, read_config
from qpolicy.native.records import Record, engines_of, find_record

Answers: TypeAlias = Mapping[tuple[bool, str], Answer]
"""What an engine makes of each layer, by whether the draft asks and by the name that it asks."""

_MOST_LITERAL = 20_000


@dataclass(frozen=True, slots=True)
class Exported:
    """A policy as a native list.

    Attributes:
        entries: The list's entries.
        keys: The keys that it stands under.
        values: What stands under each key, as JSON holds it.
        config: The whole config that it was read back from.
        checked: How many layers were compared, target and draft together.
        own: The config is the checkpoint's own, with only the list exchanged.
    """

    entries: tuple[str, ...]
    keys: tuple[str, ...]
    values: Mapping[str, Any]
    config: Mapping[str, Any]
    checked: int
    own: bool


@dataclass(frozen=True, slots=True)
class Task:
    """What a list has to say, and to whom.

    Attributes:
        wanted: Each layer with its outcome.
        record: How the engine reads the list.
        unlisted: What it makes of each layer when nothing is listed.
        what: The list and the engine in words.
    """

    wanted: tuple[Wish, ...]
    record: Record
    unlisted: Answers
    what: str

    def units(self, wish: Wish, who: Mapping[bool, World]) -> tuple[Unit, ...]:
        """Return the names that have to be excluded for a layer to be."""
        return units(wish.ask, self.record, who[wish.draft].packed)

    def has_to_be_listed(self, wish: Wish) -> bool:
        """Whether the engine would quantize a layer that is to stay plain."""
        return self.unlisted[wish.draft, wish.ask.name].outcome != "unquantized"

    def is_listed(self, wish: Wish, world: World) -> bool:
        """Whether a plain layer is listed if that can be said: for this engine, or for the format's own tools."""
        if self.has_to_be_listed(wish):
            return True
        producer, names = world.producer, [module.name for module in wish.ask.modules]
        return producer is not None and any(
            producer.ask(name, wish.ask.kind, exclusions=False).outcome == "quantized" for name in names
        )


def export(checkpoint: Checkpoint, policy: Policy | None, dialect: str, *, engine: str = "sglang") -> Exported:
    """Return the list of a dialect that says what a policy decides on a checkpoint.

    Args:
        checkpoint: The checkpoint.
        policy: The policy; None writes the checkpoint's own list anew.
        dialect: A key of :data:`SLOTS`.
        engine: The engine that is to read the list.

    Raises:
        NothingToCheckError: No layer is stored.
        CannotSayError: The dialect cannot say it on this engine; names the modules.
        QPolicyError: The dialect cannot be written, or how the engine reads it is not known.
    """
    slot = _slot(dialect)
    checkpoint = consulted(checkpoint, engine)
    base, own = _base(checkpoint, slot, dialect)
    config = read_config(base)
    record = find_record(dialect, engine, config.variant)
    if record is None:
        known = ", ".join(engines_of(dialect))
        raise QPolicyError(f"how {engine} reads a {dialect} list is not known; --engine may name {known}")
    wanted = wishes(checkpoint, policy, engine)
    read = record.lists if record.section_lists is None or not config.section else record.section_lists
    keys = slot.used(base, read)
    empty = _with(checkpoint, slot.filled(base, keys, ()))
    unlisted = _outcomes(empty, engine)
    _check_quantizable(unlisted, wanted, engine, dialect)
    task = Task(wanted, record, unlisted, f"{dialect} list makes {engine}")
    entries, lost = _chosen(_with(checkpoint, slot.filled(base, keys, _pool(task, slot, ()))), task)
    if lost:
        # Names one by one are many and slow to compare, so they are tried only where parts of names do not do.
        names = _names(lost)
        entries, lost = _chosen(_with(checkpoint, slot.filled(base, keys, _pool(task, slot, names))), task)
    if lost:
        raise CannotSayError(_cannot(lost, task))
    filled = slot.filled(base, keys, entries)
    _check(_with(checkpoint, filled), wanted, engine, dialect)
    return Exported(tuple(entries), keys, {key: filled[key] for key in keys}, filled, len(wanted), own)


def _slot(dialect: str) -> Slot:
    if dialect not in SLOTS:
        raise QPolicyError(f"lists of the dialect '{dialect}' cannot be written; there are: {', '.join(SLOTS)}")
    return SLOTS[dialect]


def _base(checkpoint: Checkpoint, slot: Slot, dialect: str) -> tuple[Mapping[str, Any], bool]:
    """Return the config that the list goes into: the checkpoint's own, or one of that dialect."""
    own = checkpoint.quantization
    if own is not None and read_config(own).dialect == dialect:
        return own, True
    return slot.config, False


def _with(checkpoint: Checkpoint, quantization: Mapping[str, Any]) -> Checkpoint:
    return with_config(checkpoint, quantization, "the exported list")


def _outcomes(checkpoint: Checkpoint, engine: str) -> Answers:
    return {(one.draft, one.ask.name): one.answer for one in engine_answers(checkpoint, engine)}


def _check_quantizable(unlisted: Answers, wanted: Iterable[Wish], engine: str, dialect: str) -> None:
    """Refuse what the engine leaves alone, or refuses, although nothing is listed."""
    packed = [(wish, unlisted[wish.draft, wish.ask.name]) for wish in wanted if wish.outcome == "quantized"]
    lost = [(wish, answer) for wish, answer in packed if answer.outcome != "quantized"]
    if lost:
        raise CannotSayError(
            f"no {dialect} list makes {engine} quantize {listed(wish.called for wish, _ in lost)}: {lost[0][1].why}"
        )


def _pool(task: Task, slot: Slot, literal: Sequence[str]) -> list[str]:
    """Return every entry that is worth trying, with these names as they are."""
    plain = [wish for wish in task.wanted if wish.outcome == "unquantized"]
    packed = [wish for wish in task.wanted if wish.outcome == "quantized"]
    texts: dict[str, None] = {}
    for spelled in (_stored, _asked):
        names = list(dict.fromkeys(name for wish in plain for name in spelled(wish)))
        against = dict.fromkeys(name for wish in packed for name in spelled(wish))
        free = [name for name in names if name not in against]
        shapes: tuple[Shape, ...] = cover(free, Refused(tuple(against))) if free else ()
        texts |= dict.fromkeys(spellings(shapes, _short(names), task.record, slot.mark))
    texts |= dict.fromkeys(literal_regex(literal, slot.mark) if slot.mark else literal)
    return list(texts)


def _names(wishes: Iterable[Wish]) -> list[str]:
    return list(dict.fromkeys(name for wish in wishes for name in (*_stored(wish), *_asked(wish))))


def _short(names: Sequence[str]) -> Sequence[str]:
    return names if len(names) <= _MOST_LITERAL else [name for name in names if ".experts." not in name]


def _stored(wish: Wish) -> tuple[str, ...]:
    return (*(module.name for module in wish.ask.modules), wish.ask.stored)


def _asked(wish: Wish) -> tuple[str, ...]:
    return (*members(wish.ask), wish.ask.name)


def _chosen(full: Checkpoint, task: Task) -> tuple[list[str], list[Wish]]:
    """Choose entries, and return the layers that none of them excludes although one has to."""
    who = worlds(full, task.record.engine)
    wishes_ = [wish for wish in task.wanted if wish.outcome == "unquantized" and task.is_listed(wish, who[wish.draft])]
    asked = {(wish.draft, unit): wish for wish in wishes_ for unit in task.units(wish, who)}
    forbidden = {
        text
        for wish in task.wanted
        if wish.outcome == "quantized"
        for unit in {*task.units(wish, who), (wish.ask.name, wish.ask.kind)}
        for text in _touches(who[wish.draft], unit)
    }
    touched = {text: found for text, found in _touching(who, asked).items() if text not in forbidden}
    entries, left = choose(asked, touched)
    return entries, [asked[key] for key in left if task.has_to_be_listed(asked[key])]


def _cannot(lost: Sequence[Wish], task: Task) -> str:
    packed = {wish.ask.name: wish for wish in task.wanted if wish.outcome == "quantized"}
    shared = next((packed[wish.ask.name] for wish in lost if wish.ask.name in packed), None)
    why = "every entry that fits it also fits a layer that is to be quantized, or the engine never asks its list"
    if shared is not None:
        why = f"the target and the draft ask for it by one name, and {shared.called} is to be quantized"
    return f"no {task.what} leave {listed(wish.called for wish in lost)} unquantized: {why}"


def _touching(who: Mapping[bool, World], asked: Iterable[tuple[bool, Unit]]) -> dict[str, set[tuple[bool, Unit]]]:
    found: dict[str, set[tuple[bool, Unit]]] = {}
    for draft, unit in asked:
        for text in _touches(who[draft], unit):
            found.setdefault(text, set()).add((draft, unit))
    return found


def _touches(world: World, unit: Unit) -> Iterator[str]:
    reading = world.reading
    assert reading is not None
    return (entry.text for entry in reading.matching(*unit))


def _check(filled: Checkpoint, wanted: Sequence[Wish], engine: str, dialect: str) -> None:
    """Read the list back, and compare every layer.

    Raises:
        CannotSayError: A layer would come out otherwise.
    """
    answers = _outcomes(filled, engine)
    for wish in wanted:
        answer = answers[wish.draft, wish.ask.name]
        scheme = None if wish.decision.rule is None else wish.decision.rule.decision.scheme
        if answer.outcome != wish.outcome or (scheme is not None and scheme != answer.scheme):
            wrong = [other.called for other in wanted if answers[other.draft, other.ask.name].outcome != other.outcome]
            raise CannotSayError(
                f"no {dialect} list was found that makes {engine} decide {listed(wrong or [wish.called])} as the "
                f"policy does; {wish.called} would be {answer.outcome}, not {wish.outcome}: {answer.why}"
            )
