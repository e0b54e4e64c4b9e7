"""The variables behind the facts of some conditions, each made once, and the facts as atoms over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from qpolicy.analysis import variables as v
from qpolicy.analysis.formulas import Atom, Formula, every, inverse, some
from qpolicy.analysis.variables import Value, Values, Variable
from qpolicy.checkpoint import DTYPES
from qpolicy.lang.tree import DtypeIs, Fact, Flag, Has, Is
from qpolicy.lang.words import KINDS

_KINDS = (*KINDS, "other")


class Vocabulary:
    """Makes atoms of facts.

    Args:
        facts: Every fact that will be asked about: what they mention is what their values are told apart by.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._named: dict[str, dict[str, None]] = {}
        self._dtypes: dict[str, dict[str, None]] = {}
        for fact in facts:
            if isinstance(fact, Is):
                self._named.setdefault(fact.field, {}).update(dict.fromkeys(fact.values))
            elif isinstance(fact, DtypeIs):
                self._dtypes.setdefault(fact.tensor, {}).update(dict.fromkeys(fact.dtypes))
        self._made: dict[str, Variable] = {}

    @cached_property
    def draft(self) -> Variable:
        """Whether the draft is under construction."""
        return v.draft()

    @property
    def is_draft(self) -> Formula:
        """The fact ``draft``."""
        return Atom(self.draft, frozenset([True]))

    @cached_property
    def checkpoint(self) -> Variable:
        """How much of a checkpoint is there."""
        return v.checkpoint()

    @cached_property
    def kind(self) -> Variable:
        """The module's kind."""
        return v.one_of("kind", _KINDS)

    @cached_property
    def engine(self) -> Variable:
        """The engine that asks."""
        return v.one_of("engine", (*self._named.get("engine", ()), v.OTHER))

    @cached_property
    def listing(self) -> Variable:
        """Whether the reading of the list is known."""
        return v.listing(self.checkpoint)

    @cached_property
    def tensors(self) -> Variable:
        """Whether the module's name has tensors."""
        return v.tensors(self.checkpoint)

    @cached_property
    def quantized(self) -> Variable:
        """Whether the module is quantized on disk."""
        return v.flag("quantized_on_disk", self.tensors, allowed=lambda there: v.TRUTHS if there else (None,))

    @cached_property
    def excluded(self) -> Variable:
        """Whether the list excludes the module."""
        return v.flag("excluded", self.listing, allowed=v.unless(False))

    @cached_property
    def numbered(self) -> Variable:
        """Whether a numbered layer is the draft's."""
        return v.numbered(self.checkpoint)

    @cached_property
    def kept_head(self) -> Variable:
        """Whether the module is the head that a dropped draft keeps."""
        return v.kept_head(self.draft, self.quantized)

    def fact(self, fact: Fact) -> Formula:
        """Return a fact as a formula.

        Args:
            fact: Any fact but ``path in``, which is about names alone, and those about a pattern.
        """
        match fact:
            case Flag(name):
                return self._flag(name)
            case Has(names):
                return every(self._has(name) for name in dict.fromkeys(names))
            case DtypeIs(name, dtypes):
                return Atom(self._tensor(name), frozenset(dtypes), frozenset([None, v.UNKNOWN_DTYPE]))
            case Is("arch", values):
                return some(_true(self._arch(value)) for value in dict.fromkeys(values))
            case Is(name, values):
                return Atom(self._field(name), frozenset(values))
        raise AssertionError(f"{fact} is about names alone, or about a pattern")

    def about(self, name: str, key: str, written: str) -> Formula:
        """Return a fact about the modules that a pattern selects as a formula.

        Args:
            name: The fact's name.
            key: What the pattern comes to, the same for patterns that come to the same.
            written: The pattern as it is written.
        """
        exists = self._once(
            f"exists {key}",
            lambda: v.flag(f"exists({written})", self.checkpoint, allowed=v.unless(v.NO_CHECKPOINT, v.NOTHING_STORED)),
        )
        if name == "exists":
            return _true(exists)
        if name == "excluded":
            return _true(self._once(f"excluded {key}", lambda: v.excluded_all(written, exists, self.listing)))
        place = 0 if name == "quantized_on_disk" else 1
        disk = self._once(f"on disk {key}", lambda: v.on_disk(written, exists))
        return Atom(disk, _with(disk.values, place, True), _with(disk.values, place, None))

    def _flag(self, name: str) -> Formula:
        if name in ("draft", "target"):
            return Atom(self.draft, frozenset([name == "draft"]))
        return _true(self.excluded if name == "excluded" else self.quantized)

    def _has(self, name: str) -> Formula:
        return inverse(Atom(self._tensor(name), frozenset([v.ABSENT])))

    def _tensor(self, name: str) -> Variable:
        named = tuple(self._dtypes.get(name, ()))
        others = bool(DTYPES.difference(named))
        return self._once(f"tensor {name}", lambda: v.tensor(name, named, self.tensors, others=others))

    def _arch(self, name: str) -> Variable:
        return self._once(
            f"arch {name}",
            lambda: v.flag(f"arch == {name}", self.checkpoint, allowed=v.unless(v.NO_CHECKPOINT)),
        )

    def _field(self, name: str) -> Variable:
        if name in ("kind", "engine"):
            return self.kind if name == "kind" else self.engine
        return self._once(name, lambda: v.field(name, tuple(self._named[name]), self.checkpoint))

    def _once(self, name: str, make: Callable[[], Variable]) -> Variable:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


def _true(variable: Variable) -> Atom:
    return Atom(variable, frozenset([True]))


def _with(values: Values, place: int, truth: bool | None) -> frozenset[Value]:
    return frozenset(value for value in values if isinstance(value, tuple) and value[place] is truth)
