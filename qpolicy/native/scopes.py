"""What an operator compares entries with, where that is not the module's name as it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from qpolicy.native.operators import Operator


class Scoped:
    """An operator whose entries fit when they fit any of several spellings of the name."""

    def __init__(self, operator: Operator, spellings: Callable[[str], Iterable[str]]) -> None:
        self.broken = operator.broken
        self._operator = operator
        self._spellings = spellings

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        return [place for spelled in self._spellings(name) for place in self._operator.fitting(spelled)]


def scoped(operator: Operator, scope: str) -> Operator:
    """Return the operator with another scope; none is named by the empty string."""
    return Scoped(operator, SCOPES[scope]) if scope else operator


def _ancestors(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


_LAYER = re.compile(r"(?:.*?\.)?[0-9]+\.(.+)", re.DOTALL)


def _within_layer(name: str) -> tuple[str, ...]:
    found = _LAYER.fullmatch(name)
    return (found[1],) if found else ()


SCOPES: dict[str, Callable[[str], Iterable[str]]] = {
    "ancestors": _ancestors,
    "segments": lambda name: name.split("."),
    "segments-and-ancestors": lambda name: (*name.split("."), *_ancestors(name)),
    "within-layer": _within_layer,
    "weight": lambda name: (f"{name}.weight",),
}
"""Each scope's name in the data, and the spellings that it compares."""
