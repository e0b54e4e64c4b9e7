"""Loads the readings: one record per (dialect, engine), from the files in ``readings``.

``readings/README.md`` explains their vocabulary. Records are data; `qpolicy.native.exclusion` and
`qpolicy.native.schemes` execute them and hold the few verbs that the data may use.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from qpolicy.native.versions import engine_and_version, joined, lies_between

DEFAULT_ENGINE = "sglang"


@dataclass(frozen=True, slots=True)
class Clause:
    """How an engine compares one entry with one name.

    Attributes:
        operators: The entry fits when any of these does.
        prefix: The clause is for entries that begin so; the prefix is not part of what is compared. The first
            clause of a record that is for an entry is the only one used.
        key: The clause is only for entries of the list under this key; empty: of every list.
        options: What the operators need beside the entry.
    """

    operators: tuple[str, ...]
    prefix: str = ""
    key: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tier:
    """One round in which an engine compares all rules with a name.

    Attributes:
        clauses: The comparisons.
        suffix: What is appended to the name, such as ``.weight`` where rules name tensors.
        respell: How the name is spelled otherwise first; a round for which it has no other spelling is left out.
    """

    clauses: tuple[Clause, ...]
    suffix: str = ""
    respell: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class First:
    """A scheme that a kind of layer gets unless a list of its own excludes it; then the rest of the reading counts.

    Attributes:
        scheme: The scheme's name.
        lists: The keys of that list.
        added: Entries that the engine adds to it.
        steps, rewrite, rewrite_mapped: As in `Record`.
    """

    scheme: str
    lists: tuple[str, ...]
    steps: tuple[str, ...]
    added: tuple[str, ...] = ()
    rewrite: tuple[str, ...] = ()
    rewrite_mapped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """How an engine treats one kind of layer.

    Attributes:
        steps: Where it looks for the layer's scheme, in order.
        otherwise: What it does when no step finds one: ``quantized`` (finding none is a fault of the config),
            ``unquantized``, ``refused``; or ``never`` and ``unsupported``, for a kind without steps whose list is
            consulted in vain.
        asked_as: What it appends to the layer's name to get the names it asks about; nothing: the name itself.
        bypass: Circumstances under which it never consults the exclusions.
        needs_groups: True when without any scheme it leaves the layer alone before it looks at the exclusions.
        unsupported: What in a scheme it refuses for this kind.
        list_steps: The steps by which it decides whether this kind is excluded, where they are not the record's;
            none at all: it never consults the exclusions.
        excluded: What becomes of an excluded layer: ``unquantized``, ``refused``, or ``quantized`` all the same.
        scheme_first: True when it looks for the scheme before the exclusions, so that a fault there comes first.
        schemes: The schemes that it has a method for; none given: every one. It leaves a layer of another one alone.
        only_with: The key of the config that must be true for this kind to be quantized at all.
        first: A scheme that comes before everything else.
    """

    steps: tuple[str, ...] = ()
    otherwise: str = "quantized"
    asked_as: tuple[str, ...] = ()
    bypass: tuple[str, ...] = ()
    needs_groups: bool = False
    unsupported: tuple[str, ...] = ()
    list_steps: tuple[str, ...] | None = None
    excluded: str = "unquantized"
    scheme_first: bool = False
    schemes: tuple[str, ...] = ()
    only_with: str = ""
    first: First | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One reading: how one engine reads one dialect.

    Attributes:
        dialect: The dialect.
        engine: Who reads it.
        version: The version that was read.
        since: The earliest version that reads alike, and all between the two do; empty: nothing is said of others.
        source: Files of that version in which the reading can be checked.
        limits: What of this engine's reading the record cannot say, and therefore does not follow.
        lists: The keys of the exclusion lists it reads.
        read: ``all`` of them, the ``first-present`` one, even if that is null, or the ``first-filled`` one.
        section_lists: The keys it reads instead when the config is a section of a file of its own; None: the same.
        variants: The variants of the dialect that it is for; none given: all of them.
        added: Entries that it adds to every list, as they stand.
        lists_behind: The keys of further lists, which it reads behind everything else and never rewrites.
        defaults: Entries that it uses when there is no list, or null instead of one.
        mapped: False when it does not apply the model's name mapper to its entries.
        mapped_targets: False when it does not apply it to schemes' targets either.
        declared: False when it does not know the fused families that the model declares.
        rewrite: How it rewrites entries before any name mapper.
        rewrite_mapped: How it rewrites them further when there is a name mapper.
        clauses: The comparisons for exclusions.
        eager: True when it tries all entries even after one fits, and so stumbles over each that it cannot use.
        pattern_clauses: A second set of comparisons for exclusions, for the step ``own-by-pattern``.
        target_clauses: The comparisons for schemes' targets.
        steps: The order in which it decides whether a name is excluded.
        packed: Fused families it always knows, over those of the model.
        fallback: Fused families it knows when the model names none with that leaf.
        class_match: How it compares a target with a class name: ``exact`` or ``contains``.
        classes: Whose class names it sees.
        added_targets: Class names that it adds to a target of this name.
        kinds: How it treats each kind of layer; a kind that is absent is never quantized.
        refuses: What in a config makes it refuse to start.
        tiers: The rounds in which it looks names up among the config's rules.
        rule_aliases: The spellings under which it knows a rule as well.
        included: The keys of the lists of what is quantized that it reads.
        included_clauses: How it compares them.
        packed_within: Fused families it knows for names with a certain text in them; ``""`` is for all others.
    """

    dialect: str
    engine: str
    version: str
    source: tuple[str, ...]
    lists: tuple[str, ...]
    clauses: tuple[Clause, ...]
    steps: tuple[str, ...]
    kinds: Mapping[str, Kind]
    since: str = ""
    target_clauses: tuple[Clause, ...] = ()
    pattern_clauses: tuple[Clause, ...] = ()
    read: str = "all"
    eager: bool = False
    section_lists: tuple[str, ...] | None = None
    variants: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    lists_behind: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    mapped: bool = True
    mapped_targets: bool = True
    declared: bool = True
    rewrite: tuple[str, ...] = ()
    rewrite_mapped: tuple[str, ...] = ()
    packed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fallback: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    class_match: str = "exact"
    classes: str = ""
    added_targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refuses: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    tiers: tuple[Tier, ...] = ()
    rule_aliases: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    included_clauses: tuple[Clause, ...] = ()
    packed_within: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def families_of(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """Return the fused families that the engine knows for a name by a text within it."""
        return next((families for text, families in self.packed_within.items() if text in name), {})

    def steps_of(self, kind: str) -> tuple[str, ...]:
        """Return the steps by which a kind of layer comes to be excluded."""
        plan = self.kinds.get(kind)
        return self.steps if plan is None or plan.list_steps is None else plan.list_steps


def find_record(dialect: str, engine: str, variant: str = "") -> Record | None:
    """Return the reading of this dialect by this engine, or None where none is written down.

    Args:
        dialect: As in `NativeConfig.dialect`.
        engine: A name such as ``sglang``, or with the version, ``transformers 5.19.0``; without one, the newest.
        variant: As in `NativeConfig.variant`.
    """
    records, names = _records(), (f"{dialect}/{variant}", dialect)
    found = (records[name, engine] for name in names if (name, engine) in records)
    return next(found, None) or _spanning(names, engine)


def _spanning(names: tuple[str, ...], engine: str) -> Record | None:
    """Return the reading of another version that holds for the one named, too."""
    who, version = engine_and_version(engine)
    found = (
        record
        for (name, _), record in _records().items()
        if name in names and record.engine == who and holds_for(record, version)
    )
    return next(found, None)


def holds_for(record: Record, version: str) -> bool:
    """Tell whether a reading is also that of another version of its engine."""
    return bool(record.since) and lies_between(version, record.since, record.version)


def every_record() -> tuple[Record, ...]:
    """Return all readings in the order in which they are written down."""
    named = ((engine, record) for (_, engine), record in _records().items())
    return tuple({id(record): record for engine, record in named if engine != record.engine}.values())


def engines_of(dialect: str) -> tuple[str, ...]:
    """Return the names of all whose reading of a dialect is written down."""
    return tuple(sorted({record.engine for record in every_record() if record.dialect == dialect}))


def engines() -> tuple[str, ...]:
    """Return the names of all whose reading of some dialect is written down, the default engine first."""
    return tuple(dict.fromkeys((DEFAULT_ENGINE, *sorted(record.engine for record in _records().values()))))


def knows_engine(name: str) -> bool:
    """Tell whether a name, with or without a version, is that of an engine whose readings are written down."""
    who, version = engine_and_version(name)
    every = _records().items()
    return name == DEFAULT_ENGINE or any(
        name in (known, record.engine) or (record.engine == who and holds_for(record, version))
        for (_, known), record in every
    )


def engines_and_versions() -> tuple[str, ...]:
    """Return every engine with the versions whose readings are written down, such as ``sglang 0.5.8 to 0.5.23``."""
    return tuple(
        f"{engine} {', '.join(joined((record.since, record.version) for record in _read_by(engine)))}"
        for engine in engines()
    )


def span(record: Record) -> str:
    """Return the version of a reading, or the first and the last for which it holds."""
    return joined([(record.since, record.version)])[0]


def _read_by(engine: str) -> list[Record]:
    return [record for record in _records().values() if record.engine == engine]


def producer_of(dialect: str) -> str | None:
    """Return the engine whose reading is the producer's own, or None for an unknown dialect."""
    found = (table["producer"] for table in _files() if table["dialect"] == dialect and "producer" in table)
    return next(found, None)


def class_names(classes: str, kind: str, leaf: str) -> tuple[str, ...]:
    """Return the class names that stand for a layer of this kind, the most special first.

    Args:
        classes: The family of classes, such as ``sglang`` or ``torch``.
        kind: The layer's kind.
        leaf: The last segment of the layer's name.
    """
    table = _classes().get(classes, {}).get(kind, {})
    return tuple(table.get(leaf) or table.get("*") or ())


@lru_cache(maxsize=1)
def _classes() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("classes.toml").read_text())


@lru_cache(maxsize=1)
def _files() -> tuple[dict[str, Any], ...]:
    folder = Path(__file__).with_name("readings")
    return tuple(tomllib.loads(path.read_text()) for path in sorted(folder.glob("*.toml")))


@lru_cache(maxsize=1)
def _records() -> dict[tuple[str, str], Record]:
    found: dict[tuple[str, str], Record] = {}
    for file in _files():
        for table in file["reading"]:
            record = _record({"dialect": file["dialect"], **table})
            for name in [f"{record.dialect}/{variant}" for variant in record.variants] or [record.dialect]:
                found[name, f"{record.engine} {record.version}"] = record
                found[name, record.engine] = record
        for table in file.get("handed_on", ()):
            record = _handed_on(table, found[file["dialect"], table["to"]])
            found[record.dialect, f"{record.engine} {record.version}"] = record
            found[record.dialect, record.engine] = record
    return found


def _handed_on(table: Mapping[str, Any], to: Record) -> Record:
    """Return the reading of an engine that hands the config to another reader, and asks it about modules alone."""
    limits = (*to.limits, *table.get("limits", ()))
    source, steps = (*table["source"], *to.source), tuple(table.get("steps", to.steps))
    return replace(to, engine=table["engine"], version=table["version"], source=source, limits=limits, steps=steps)


def _record(table: Mapping[str, Any]) -> Record:
    special = {
        "clauses": tuple(_clause(clause) for clause in table.get("clauses", ())),
        "target_clauses": tuple(_clause(clause) for clause in table.get("target_clauses", ())),
        "pattern_clauses": tuple(_clause(clause) for clause in table.get("pattern_clauses", ())),
        "included_clauses": tuple(_clause(clause) for clause in table.get("included_clauses", ())),
        "tiers": tuple(_tier(tier) for tier in table.get("tiers", ())),
        "kinds": {name: _kind(kind) for name, kind in table.get("kinds", {}).items()},
    }
    return Record(**{**_frozen(table), **special})


def _kind(table: Mapping[str, Any]) -> Kind:
    first = {"first": First(**_frozen(table["first"]))} if "first" in table else {}
    return Kind(**{**_frozen(table), **first})


def _tier(table: Mapping[str, Any]) -> Tier:
    clauses = tuple(_clause(clause) for clause in table["clauses"])
    return Tier(clauses, table.get("suffix", ""), tuple(table.get("respell", ())))


def _clause(table: Mapping[str, Any]) -> Clause:
    return Clause(**_frozen(table))


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
