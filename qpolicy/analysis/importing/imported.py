"""Imports a native list: with a checkpoint at hand as the engine reads it there, without one entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qpolicy.analysis.importing.answers import Answered, engine_answers
from qpolicy.analysis.importing.entrywise import entrywise
from qpolicy.analysis.importing.notes import notes
from qpolicy.analysis.importing.rules import ListRule, corrections, rules_of
from qpolicy.analysis.importing.sides import sort_out
from qpolicy.analysis.importing.verify import missed
from qpolicy.analysis.importing.writing import counted, remarks_on, wrapped, write
from qpolicy.bind import Policy, parse
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import QPolicyError
from qpolicy.native import NativeConfig, engine_reading, read_config
from qpolicy.native.records import find_record


@dataclass(frozen=True, slots=True)
class Imported:
    """A policy made from a list.

    Attributes:
        policy: The policy.
        checked: How many layers it was compared with, target and draft together; 0 without a checkpoint.
        unsaid: Sentences about entries that it does not say.
    """

    policy: Policy
    checked: int
    unsaid: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The policy's text, in its canonical layout."""
        return self.policy.source.text


def import_list(checkpoint: Checkpoint, *, engine: str = "sglang", name: str = "<imported>") -> Imported:
    """Return the policy that decides every layer of a checkpoint as the engine reads its list.

    Args:
        checkpoint: The checkpoint.
        engine: The engine whose reading counts.
        name: What messages call the policy.

    Raises:
        NothingToCheckError: The checkpoint has no list.
        QPolicyError: How the engine reads the list is not known, or no policy in patterns says it.
    """
    answers = engine_answers(checkpoint, engine)
    if not answers:
        assert checkpoint.quantization is not None
        return import_config(checkpoint.quantization, engine=engine, name=name, where=checkpoint.quantization_file)
    config = answers[0].matcher.binding.world.config
    assert config is not None
    rules = rules_of(checkpoint, sort_out(answers), config.entries, find_record(config.dialect, engine, config.variant))
    wrong: tuple[tuple[str, bool, str], ...] = ()
    for otherwise in ("quantized", "native") if len(config.schemes) <= 1 else ("native",):
        imported, wrong = _settled(checkpoint, engine, answers, rules, otherwise, name)
        if imported is not None:
            return imported
    raise QPolicyError(
        f"{checkpoint.path}: no policy in patterns decides {wrong[0][0]} as {engine} reads the list; expected names "
        "that a pattern can spell"
    )


def _settled(
    checkpoint: Checkpoint,
    engine: str,
    answers: tuple[Answered, ...],
    rules: tuple[ListRule, ...],
    otherwise: str,
    name: str,
) -> tuple[Imported | None, tuple[tuple[str, bool, str], ...]]:
    """Write the policy, compare it with the list, and correct it once where it differs."""
    heading = _heading(checkpoint, engine, answers)
    wrong: tuple[tuple[str, bool, str], ...] = ()
    for _ in range(2):
        rules = (*corrections(wrong), *rules)
        text = write(heading, rules, otherwise, remarks_on(checkpoint, rules, answers))
        policy = parse(text, filename=name)
        wrong = missed(policy, checkpoint, engine, answers)
        if not wrong:
            return Imported(policy, len(answers)), ()
    return None, wrong


def _heading(checkpoint: Checkpoint, engine: str, answers: tuple[Answered, ...]) -> tuple[str, ...]:
    world = answers[0].matcher.binding.world
    assert world.config is not None
    assert world.reading is not None
    found = notes(answers, find_record(world.config.dialect, engine, world.config.variant))
    return tuple(
        wrapped(
            [
                f"Imported by `qpolicy import` from {counted(len(world.config.entries), 'entry', 'entries')} of a "
                f"{world.config.dialect} list.",
                f"It decides each of the {counted(len(answers), 'layer')} stored here as {world.reading.engine} reads "
                "that list;",
                "every one of them was compared, target and draft.",
                *([""] if found else []),
                *found,
            ]
        )
    )


def import_config(
    quantization: Mapping[str, Any], *, engine: str = "sglang", name: str = "<imported>", where: str | None = None
) -> Imported:
    """Return the policy that says what the entries of a list say, without a checkpoint to compare it with.

    Args:
        quantization: The quantization config.
        engine: The engine whose reading counts.
        name: What messages call the policy.
        where: What messages call the config.

    Raises:
        NativeConfigError: The config is malformed.
        QPolicyError: How the engine reads the list is not known.
    """
    config = read_config(quantization, where or "quantization_config")
    reading = engine_reading(config, engine)
    record = find_record(config.dialect, engine, config.variant)
    if record is None:
        raise QPolicyError(_not_known(config, engine, where))
    said = entrywise(config, record)
    heading = (
        f"Imported by `qpolicy import` from {counted(len(config.entries), 'entry', 'entries')} of a {config.dialect} "
        f"list, as {reading.engine} reads them.",
        "No checkpoint was at hand, so this was NOT compared with any module.",
        *([""] if said.notes else []),
        *said.notes,
    )
    text = write(tuple(wrapped(heading)), said.rules, said.otherwise, said.remarks)
    return Imported(parse(text, filename=name), 0, said.unsaid)


def _not_known(config: NativeConfig, engine: str, where: str | None) -> str:
    return (
        f"{where or 'quantization_config'}: how {engine} reads a list of quantization method '{config.method}' is not "
        "known; name another engine with --engine"
    )
