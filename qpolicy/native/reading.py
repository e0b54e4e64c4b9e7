"""A reading: one published config as one engine, or its producer, understands it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from qpolicy.native import prepare
from qpolicy.native.config import Entry, Group, NativeConfig
from qpolicy.native.exclusion import Families, Question, Verdict, exclusion, touching
from qpolicy.native.index import is_for
from qpolicy.native.loaded import Lists
from qpolicy.native.mapper import Mapper
from qpolicy.native.records import First, Kind, Record, find_record, producer_of
from qpolicy.native.schemes import Choice, Search, Targets, find_scheme

Outcome: TypeAlias = Literal["unquantized", "quantized", "error"]

_NONE = Kind(otherwise="unquantized")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine makes of one layer.

    Attributes:
        outcome: ``unquantized``, ``quantized``, ``error`` (the engine would refuse), or None (not known).
        scheme: The scheme's published name when it is quantized.
        excluded: The list, compared as this engine compares, excludes the name. The outcome may still differ: an
            engine that never quantizes this kind of layer, or bypasses its list, says so in `why`.
        entries: The entries that decided, or that the refusal is about.
        why: The reason in words.
        members: For a layer refused because its members disagree: those excluded, and the others.
    """

    outcome: Outcome | None
    scheme: str | None
    excluded: bool
    entries: tuple[Entry, ...]
    why: str
    members: tuple[tuple[str, ...], tuple[str, ...]] | None = None


class Reading:
    """A published config, ready to be asked about layers.

    Attributes:
        supported: False when nobody wrote down how this engine reads this dialect; every answer is then unknown.
        engine: Whose reading it is, with the version.
        dialect: The config's dialect.
        source: Where the reading can be checked.
        refusals: What in the config makes the engine stop before it asks about any layer. The answers are given as
            if those places were empty.
    """

    def __init__(
        self, config: NativeConfig, record: Record | None, engine: str, packed: Families, mapper: Mapper | None
    ) -> None:
        self.supported = record is not None
        self.dialect = config.dialect
        self.engine = f"{record.engine} {record.version}" if record and " " not in engine else engine
        self.source = record.source if record else ()
        self.refusals = prepare.refusals(config, record) if record else ()
        self._config = config
        self._record = record
        if record is not None:
            self._packed = {**(packed if record.declared else {}), **record.packed}
            self._lists = Lists.load(config, record, mapper)
            self._targets = _targets(config, record, mapper)

    @cached_property
    def _empty(self) -> Lists:
        assert self._record is not None
        return Lists.without_exclusions(self._config, self._record)

    def ask(self, name: str, kind: str, *, exclusions: bool = True) -> Answer:
        """Tell what becomes of a layer.

        Args:
            name: The layer's name as this reader knows it: the engine's name, or for a producer the stored name.
            kind: ``linear``, ``moe``, ``lm_head`` or ``embedding``.
            exclusions: False to ask as if the exclusion lists were empty.

        Raises:
            NativeConfigError: An entry is a regular expression that takes too long on this name.
        """
        if self._record is None:
            return Answer(None, None, False, (), f"how {self.engine} reads {self.dialect} is not known")
        plan = self._record.kinds.get(kind, _NONE)
        lists = self._lists if exclusions else self._empty
        verdicts = self._verdicts(name, kind, lists)
        listed = _joined(verdicts)
        before = self._unasked(plan, kind, listed) or self._first(plan, self._question(name, kind, lists))
        return before or self._asked(plan, verdicts, kind, listed, lists)

    def listed(self, name: str, kind: str) -> Verdict:
        """Tell what the exclusion list alone says about a layer, whether or not the engine then consults it.

        Raises:
            NativeConfigError: An entry is a regular expression that takes too long on this name.
        """
        return _joined(self._verdicts(name, kind, self._lists)) if self._record else Verdict(False)

    def matching(self, name: str, kind: str) -> tuple[Entry, ...]:
        """Return every entry that this reading could use for the name or one of its shards, whichever decides."""
        if self._record is None:
            return ()
        plan = self._record.kinds.get(kind, _NONE)
        questions = [self._question(name + suffix, kind, self._lists) for suffix in plan.asked_as or ("",)]
        questions += [self._first_question(plan.first, questions[0])] if plan.first else []
        return tuple(dict.fromkeys(entry for question in questions for entry in touching(question)))

    def entry_matches(self, entry: Entry, name: str, kind: str) -> bool:
        """Tell whether this one entry excludes the name or one of its shards."""
        return entry in self.matching(name, kind)

    def operators(self, entry: Entry) -> tuple[str, ...]:
        """Return the operators by which this reading compares an entry with a name, as ``readings`` calls them."""
        if self._record is None:
            return ()
        found: list[str] = []
        lists = (self._record.clauses, self._record.pattern_clauses)
        by_rule = any(group.role == "rule" and entry in group.targets for group in self._config.groups)
        for clauses in [tier.clauses for tier in self._record.tiers] if by_rule else lists:
            found += next((clause.operators for clause in clauses if is_for(clause, entry.text, entry)), ())
        return tuple(dict.fromkeys(found))

    def _verdicts(self, name: str, kind: str, lists: Lists) -> dict[str, Verdict]:
        plan = self._record.kinds.get(kind, _NONE) if self._record else _NONE
        asked = [name + suffix for suffix in plan.asked_as] or [name]
        found = {one: exclusion(self._question(one, kind, lists)) for one in asked}
        if plan.excluded != "quantized":
            return found
        return {one: verdict if verdict.error else Verdict(False) for one, verdict in found.items()}

    def _question(self, name: str, kind: str, lists: Lists) -> Question:
        assert self._record is not None
        return Question(name, kind, self._record, self._packed, lists, self._record.steps_of(kind))

    def _first_question(self, first: First, question: Question) -> Question:
        lists = question.lists.first.get(question.kind, self._empty)
        return replace(question, lists=lists, steps=first.steps)

    def _first(self, plan: Kind, question: Question) -> Answer | None:
        """Answer for a layer that gets a scheme which a list of its own decides about."""
        if plan.first is None:
            return None
        verdict = exclusion(self._first_question(plan.first, question))
        if verdict.error is not None:
            return Answer("error", None, False, verdict.entries, verdict.error, verdict.members)
        if verdict.excluded:
            return None
        return Answer("quantized", plan.first.scheme, False, (), f"no entry keeps it from {plan.first.scheme}")

    def _unasked(self, plan: Kind, kind: str, listed: Verdict) -> Answer | None:
        """Answer for a layer about which the engine does not consult the list."""
        if plan is _NONE:
            why = f"{self.engine} never quantizes {kind} layers of {self.dialect}"
            return Answer("unquantized", None, listed.excluded, listed.entries, why)
        if plan.only_with and not self._config.raw.get(plan.only_with):
            why = f"{self.engine} quantizes {kind} layers only where the config has {plan.only_with!r}"
            return Answer("unquantized", None, listed.excluded, listed.entries, why)
        if plan.needs_groups and self._targetless(kind):
            return Answer("unquantized", None, listed.excluded, listed.entries, "no scheme has a target")
        for circumstance in plan.bypass:
            scheme = prepare.BYPASSES[circumstance](self._config, self._targets[kind].pairs)
            if scheme is not None:
                why = f"{self.engine} gives {kind} layers {scheme} without consulting the list"
                return Answer("quantized", scheme, listed.excluded, listed.entries, why)
        return None

    def _asked(self, plan: Kind, verdicts: Mapping[str, Verdict], kind: str, listed: Verdict, lists: Lists) -> Answer:
        if plan.scheme_first:
            faults = [choice.error for choice in (self._choose(one, kind, lists) for one in verdicts) if choice.error]
            if faults:
                return Answer("error", None, False, (), faults[0])
        if listed.error is not None:
            return Answer("error", None, False, listed.entries, listed.error, listed.members)
        if listed.excluded and plan.excluded == "refused":
            why = f"{_excluded(listed)}, and {self.engine} cannot build an excluded {kind} layer"
            return Answer("error", None, True, listed.entries, why)
        choices = [None if verdict.excluded else self._choose(one, kind, lists) for one, verdict in verdicts.items()]
        return _decided(choices, listed)

    def _targetless(self, kind: str) -> bool:
        """Tell whether nothing in the config could choose a scheme, as in a config with only sparsity."""
        return not self._targets[kind].pairs and all(group.role == "group" for group in self._config.groups)

    def _choose(self, name: str, kind: str, lists: Lists) -> Choice:
        assert self._record is not None
        leaf, question = name.rpartition(".")[2], self._question(name, kind, lists)
        search = Search(
            name, kind, leaf, self._record, self._targets[kind], self._config.groups, self._packed, question
        )
        if self._targetless(kind):
            return Choice(None, why="no scheme has a target")
        plan = self._record.kinds[kind]
        choice = find_scheme(search) or _NOTHING[plan.otherwise](name)
        if choice.group is None or not plan.schemes or choice.group.name in plan.schemes:
            return choice
        return Choice(None, why=f"{self.engine} has no method for {choice.group.name!r} in {kind} layers")


_NOTHING: Mapping[str, Callable[[str], Choice]] = {
    "refused": lambda name: Choice(None, f"no target of any scheme fits {name}"),
    "unquantized": lambda name: Choice(None, why=f"no target of any scheme fits {name}"),
    "quantized": lambda name: Choice(None, f"no scheme fits {name}"),
    "never": lambda name: Choice(None, why="layers of this kind are never quantized"),
    "unsupported": lambda name: Choice(None, "the engine cannot build quantized layers of this kind"),
}


def _joined(verdicts: Mapping[str, Verdict]) -> Verdict:
    """Put the verdicts on all names asked for one layer together."""
    first, *more = verdicts.values()
    broken = next((verdict for verdict in verdicts.values() if verdict.error), None)
    if broken is not None or not more:
        return broken or first
    entries = tuple(dict.fromkeys(entry for verdict in verdicts.values() for entry in verdict.entries))
    excluded = tuple(name for name, verdict in verdicts.items() if verdict.excluded)
    kept = tuple(name for name in verdicts if name not in excluded)
    return Verdict(not kept, entries, members=(excluded, kept) if excluded and kept else None)


def _decided(choices: list[Choice | None], listed: Verdict) -> Answer:
    refused = next((choice for choice in choices if choice is not None and choice.error), None)
    if refused is not None:
        return Answer("error", None, False, listed.entries, str(refused.error))
    groups = [None if choice is None else choice.group for choice in choices]
    if any(_arguments(group) != _arguments(groups[0]) for group in groups):
        return Answer("error", None, False, listed.entries, _disagreement(groups, listed), listed.members)
    group = groups[0]
    if group is None or not group.quantizes:
        return Answer("unquantized", None, listed.excluded, listed.entries, _unquantized(choices[0], listed))
    return Answer("quantized", group.name, False, (), choices[0].why if choices[0] else "")


def _arguments(group: Group | None) -> object:
    return None if group is None else group.arguments or group.name


def _disagreement(groups: Sequence[Group | None], listed: Verdict) -> str:
    if listed.members is not None:
        return f"the list excludes {', '.join(listed.members[0])} but not {', '.join(listed.members[1])}"
    return f"its projections have different schemes: {', '.join(sorted({str(g and g.name) for g in groups}))}"


def _unquantized(choice: Choice | None, listed: Verdict) -> str:
    if listed.excluded:
        return _excluded(listed)
    return choice.why if choice is not None and choice.group is None else "its scheme leaves the weights alone"


def _targets(config: NativeConfig, record: Record, mapper: Mapper | None) -> dict[str, Targets]:
    """Return the targets of each kind; kinds that have the same ones share them, for they may be ten thousands."""
    common = Targets(prepare.targets(config, record, mapper), record)
    added = prepare.with_added(common.pairs, record)
    experts = common if len(added) == len(common.pairs) else Targets(added, record)
    return {kind: experts if kind == "moe" else common for kind in record.kinds}


def _excluded(listed: Verdict) -> str:
    return "excluded by " + ", ".join(f"{entry.where} {entry.text!r}" for entry in listed.entries[:3])


def producer_reading(config: NativeConfig, packed: Families | None = None) -> Reading:
    """Return how the producer of a config meant it. It is asked about stored names.

    Args:
        config: The config.
        packed: Fused families; an entry that names the fused layer covers its members. One that names an experts
            container always does; one that names a single expert never covers the others.
    """
    return engine_reading(config, producer_of(config.dialect) or "its producer", packed)


def engine_reading(
    config: NativeConfig, engine: str, packed: Families | None = None, mapper: Mapper | None = None
) -> Reading:
    """Return how an engine reads a config. It is asked about the engine's names.

    Args:
        config: The config.
        engine: ``sglang``, ``transformers``, ``compressed-tensors``, ``quark``, or one of these with a version.
        packed: The model's fused families as the engine declares them; None when it declares none.
        mapper: The model's rewriting of the entries, if it has one.

    Raises:
        NativeConfigError: An entry is a regular expression that cannot be matched in bounded time.
    """
    record = find_record(config.dialect, engine, config.variant)
    return Reading(config, record, engine, dict(packed or {}), mapper)
