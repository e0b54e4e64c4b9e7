"""By which names a module goes, so that a pattern that catches it by any of them is seen to catch it.

A pattern catches a module by its own name, by the experts container that it is in, or by a fused layer that it is part
of. Containers follow from the name. Which layers a model class fuses does not, and a policy alone does not say which
class it is for; so a module is looked at without any fused name, with each one that the policy tells apart from the
module's own, and with all of those together. What never happens then, never happens whatever the class fuses, as long
as it fuses families of :data:`qpolicy.checkpoint.FUSED`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qpolicy.checkpoint import FUSED
from qpolicy.paths import Pattern
from qpolicy.paths.segments import Element, Wildcard

EXPERTS = "experts"
_IN_A_CONTAINER = (EXPERTS, "0", "up_proj")


@dataclass(frozen=True, slots=True)
class Naming:
    """Which names besides its own can make a difference to some patterns.

    Attributes:
        fused: For the last segment of a module, those of the fused layers that it may be part of, each time in one.
        contained: Whether the name of an experts container makes a difference.
    """

    fused: Mapping[str, tuple[tuple[str, ...], ...]]
    contained: bool

    @classmethod
    def of(cls, patterns: Iterable[Pattern]) -> Naming:
        """Return what makes a difference to these patterns."""
        lasts = {last for pattern in patterns if (last := _last(pattern)) is not None}
        fused: dict[str, list[str]] = {}
        for name, parts in FUSED.items():
            for part in parts:
                if any(one.matches(name) and not one.matches(part) for one in lasts):
                    fused.setdefault(part, []).append(name)
        return cls({part: _choices(names) for part, names in fused.items()}, any(one.matches(EXPERTS) for one in lasts))

    @property
    def words(self) -> frozenset[str]:
        """The segments that have to be told apart from others, whatever the patterns say of them."""
        return frozenset(self.fused).union(_IN_A_CONTAINER if self.contained else ())


def _choices(names: list[str]) -> tuple[tuple[str, ...], ...]:
    alone = tuple((name,) for name in names)
    return (*alone, tuple(names)) if len(names) > 1 else alone


def _last(pattern: Pattern) -> Element | None:
    """Return the element that takes the last segment when every ``**`` behind it takes none."""
    fixed = (element for element in reversed(pattern.elements) if element is not Wildcard.REST)
    return next(fixed, None)
