"""The names that no pattern of a rule may match, and the names that stand for what it has to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from qpolicy.analysis.inference.numbers import Place
from qpolicy.analysis.inference.templates import Template, by_template
from qpolicy.checkpoint import container_of, fused_names


@dataclass(frozen=True)
class Refused:
    """The modules in the opposite state.

    Attributes:
        modules: Their names.
    """

    modules: tuple[str, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name by which a pattern could catch one of them."""
        return frozenset(alias for name in self.modules for alias in aliases(name))

    @cached_property
    def templates(self) -> Mapping[Template, Set[Place]]:
        """These names, with their numbers taken out."""
        return by_template(self.names)

    def units(self, wanted: Iterable[str]) -> tuple[str, ...]:
        """Return the names to match for modules: an experts container stands for its experts unless one is refused."""
        return tuple(dict.fromkeys(self._unit(name) for name in wanted))

    def _unit(self, name: str) -> str:
        container = container_of(name)
        return name if container is None or container in self.names else container


def aliases(name: str) -> tuple[str, ...]:
    """Return the names by which a pattern may catch a stored module: its own, fused ones, its container's."""
    container = container_of(name)
    return (name, *fused_names(name), *((container,) if container else ()))
