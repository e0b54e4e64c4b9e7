"""Chooses entries: as few as it takes, none of which excludes what is to be quantized."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from qpolicy.analysis.exporting.units import Unit


def choose(
    wanted: Collection[tuple[bool, Unit]], touched: Mapping[str, Collection[tuple[bool, Unit]]]
) -> tuple[list[str], list[tuple[bool, Unit]]]:
    """Cover all wanted names by entries, the one that covers most first and the shortest of several.

    Args:
        wanted: The names to exclude, each with whether the draft asks.
        touched: Each entry that may be used with the names that it excludes.

    Returns:
        The entries, and the names that none of them excludes.
    """
    left = set(wanted)
    offers = {text: set(found) & left for text, found in touched.items()}
    chosen: list[str] = []
    while left:
        text = min(offers, key=lambda text: (-len(offers[text]), _price(text), text), default=None)
        if text is None or not offers[text]:
            break
        chosen.append(text)
        gone = offers.pop(text)
        left -= gone
        offers = {other: rest for other, found in offers.items() if (rest := found - gone)}
    return _needed(chosen, wanted, touched), sorted(left)


def _price(text: str) -> tuple[int, int]:
    """Return how hard an entry is to read: by its signs, then by its length."""
    return sum(character in "\\^$()|?*[]" for character in text) + (text[:1] == "." or text[-1:] == "."), len(text)


def _needed(
    chosen: Sequence[str], wanted: Collection[tuple[bool, Unit]], touched: Mapping[str, Collection[tuple[bool, Unit]]]
) -> list[str]:
    """Leave out, from the first on, what the others cover together."""
    kept = list(chosen)
    for text in chosen:
        others = {unit for other in kept if other != text for unit in touched[other]}
        if set(touched[text]) & set(wanted) <= others:
            kept.remove(text)
    return kept
