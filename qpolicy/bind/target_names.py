"""From the name that an engine gives a target's module to the stored one, and back, where its classes rename them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Renames:
    """What the classes of one engine rename while they load.

    Attributes:
        prefixes: Pairs of the segments with which the engine's name begins and those with which the stored one may.
        segments: The same for segments anywhere in a name.
    """

    prefixes: tuple[tuple[str, str], ...] = ()
    segments: tuple[tuple[str, str], ...] = ()


@cache
def renames(engine: str) -> Renames:
    """Return the table for an engine; an empty one where its names are the stored ones."""
    table = tomllib.loads(Path(__file__).with_name("target_names.toml").read_text(encoding="utf-8"))
    if engine != table["engine"]:
        return Renames()
    prefixes, segments = (
        tuple((row["asks"], stored) for row in table[part] for stored in row["stored"])
        for part in ("prefix", "segments")
    )
    return Renames(prefixes, segments)


def target_stored_name(engine: str, asked: str, is_stored: Callable[[str], bool]) -> str:
    """Return the stored name behind a target's name; the name itself where it is stored or where nothing fits.

    Args:
        engine: The engine's name.
        asked: The name as the engine asks it, or a name in the stored spelling.
        is_stored: Whether anything on disk goes by a stored name.
    """
    if is_stored(asked):
        return asked
    table = renames(engine)
    return next((name for name in _variants(asked, table.prefixes, table.segments) if is_stored(name)), asked)


@lru_cache(maxsize=1 << 12)
def target_asked_names(engine: str, stored: str) -> tuple[str, ...]:
    """Return the names under which some class may ask for a stored module, the stored name itself left out.

    It may be a name with its numbers folded; asked so, a model's few hundred kinds of modules are worked out once each.
    """
    table = renames(engine)
    return tuple(_variants(stored, _turned(table.prefixes), _turned(table.segments)))


def _variants(name: str, prefixes: Iterable[tuple[str, str]], segments: Iterable[tuple[str, str]]) -> Iterator[str]:
    moved = [name, *(new + name[len(old) :] for old, new in prefixes if f"{name}.".startswith(f"{old}."))]
    exchanged = [
        f".{one}.".replace(f".{old}.", f".{new}.", 1)[1:-1]
        for old, new in segments
        if f".{old}." in f".{name}."
        for one in moved
    ]
    yield from dict.fromkeys((*exchanged, *moved[1:]))


def _turned(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((stored, asks) for asks, stored in pairs)
