"""The entries of one list as one reading compares them: which fit a name, and which cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from qpolicy.native.config import Entry, NativeConfigError
from qpolicy.native.operators import Operator
from qpolicy.native.records import Clause
from qpolicy.native.regex import RegexError
from qpolicy.native.scopes import scoped
from qpolicy.native.vocabulary import OPERATORS

# A big checkpoint has tens of thousands of modules; each is asked about more than once, and its containers far more.
_REMEMBERED = 1 << 17


@dataclass(frozen=True, slots=True)
class Item:
    """An entry as an engine sees it after its rewriting.

    Attributes:
        text: What is compared.
        entry: The published entry it came from.
    """

    text: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Hits:
    """What comparing a whole list with one name gave.

    Attributes:
        places: The positions of the items that fit, ascending.
        entries: Their published entries, each once.
        error: What an engine that tries the items in order stumbles over before it finds one, if anything.
    """

    places: tuple[int, ...]
    entries: tuple[Entry, ...]
    error: str | None

    def __bool__(self) -> bool:
        return bool(self.places)


NO_HITS = Hits((), (), None)


class EntryIndex:
    """The items of one list, ready to be compared with many names."""

    def __init__(self, items: Sequence[Item], clauses: Sequence[Clause], *, eager: bool = False) -> None:
        """Load the items.

        Args:
            items: The items.
            clauses: How they are compared.
            eager: The engine tries all items even after one fits, so that it stumbles over every one it cannot use.

        Raises:
            NativeConfigError: An item is a regular expression that cannot be matched in bounded time.
        """
        self._eager = eager
        self.items = tuple(items)
        self.texts = frozenset(item.text for item in self.items)
        self._places: dict[str, list[int]] = {text: [] for text in self.texts}
        for place, item in enumerate(self.items):
            self._places[item.text].append(place)
        self._operators = tuple(_load(self.items, clauses)) if self.items else ()
        broken = {place: error for operator in self._operators for place, error in operator.broken.items()}
        for place, error in broken.items():
            if not error.broken:
                raise NativeConfigError(self._refusal(place, error.reason))
        self._first_broken = min(broken, default=None)
        self._broken = broken
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._compared)

    @cached_property
    def about_experts(self) -> tuple[Item, ...]:
        """The items that mention experts."""
        return tuple(item for item in self.items if "experts" in item.text)

    def hits(self, name: str, classes: Iterable[str] = ()) -> Hits:
        """Compare every item with a name.

        Args:
            name: The name.
            classes: Class names of the module; an item that is one of them fits as well.

        Raises:
            NativeConfigError: A regular expression takes too long on this name.
        """
        names = tuple(classes)
        return self._compared(name, names) if names else self._remembered(name)

    def _compared(self, name: str, classes: tuple[str, ...] = ()) -> Hits:
        try:
            found = {place for operator in self._operators for place in operator.fitting(name)}
        except RegexError as error:
            raise NativeConfigError(f"cannot match {name[:80]!r} against the list: {error.reason}") from None
        if not found and not classes and self._first_broken is None:
            return NO_HITS
        places = tuple(sorted(found.union(*(self._places.get(one, ()) for one in classes))))
        entries = tuple(dict.fromkeys(self.items[place].entry for place in places))
        return Hits(places, entries, self._stumble(places))

    def _stumble(self, places: tuple[int, ...]) -> str | None:
        first = self._first_broken
        if first is None or (places and places[0] < first and not self._eager):
            return None
        entry = self.items[first].entry
        return f"the engine stops at {entry.where}, {entry.text!r}: {self._broken[first].reason}"

    def _refusal(self, place: int, reason: str) -> str:
        entry = self.items[place].entry
        return f"{entry.where}: {entry.text[:80]!r} is not matched: {reason}; write the names out or simplify it"


def _load(items: tuple[Item, ...], clauses: Sequence[Clause]) -> Iterator[Operator]:
    waiting: Mapping[int, Item] = dict(enumerate(items))
    for clause in clauses:
        taken = {place: item for place, item in waiting.items() if is_for(clause, item.text, item.entry)}
        waiting = {place: item for place, item in waiting.items() if place not in taken}
        numbered = [(place, item.text.removeprefix(clause.prefix)) for place, item in taken.items()]
        for operator in clause.operators:
            yield scoped(OPERATORS[operator](numbered, clause.options), clause.options.get("scope", ""))


def is_for(clause: Clause, text: str, entry: Entry) -> bool:
    """Tell whether a clause is for an entry that the engine sees as this text."""
    return text.startswith(clause.prefix) and clause.key in ("", entry.key)
