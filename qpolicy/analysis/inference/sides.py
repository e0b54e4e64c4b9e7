"""The two sides of a question to the names: those that a rule must match, and those that it must not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qpolicy.checkpoint import container_of, fused_names


@dataclass(frozen=True, slots=True)
class Sides:
    """What some patterns have to match and what they must leave alone.

    Attributes:
        wanted: The names to match: of modules, or of experts containers whose members are all wanted.
        refused: Every name by which a pattern could catch a module that is not wanted.
    """

    wanted: tuple[str, ...]
    refused: frozenset[str]

    @classmethod
    def of(cls, wanted: Iterable[str], refused: Iterable[str]) -> Sides:
        """Put modules on the two sides; a container whose members are all wanted stands for them."""
        against = frozenset(alias for name in refused for alias in aliases(name))
        return cls(tuple(dict.fromkeys(_unit(name, against) for name in wanted)), against)


def aliases(name: str) -> tuple[str, ...]:
    """Return the names by which a pattern may catch a stored module: its own, fused ones, its container's."""
    container = container_of(name)
    return (name, *fused_names(name), *((container,) if container else ()))


def _unit(name: str, refused: frozenset[str]) -> str:
    container = container_of(name)
    return name if container is None or container in refused else container
