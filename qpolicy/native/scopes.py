"""What an operator compares entries with, where that is not the module's name as it is asked."""

from __future__ import annotations

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


SCOPES: dict[str, Callable[[str], Iterable[str]]] = {
    "ancestors": _ancestors,
    "weight": lambda name: (f"{name}.weight",),
}
"""Each scope's name in the data, and the spellings that it compares."""
