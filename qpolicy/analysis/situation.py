"""A witness: a module's name and the facts that are assumed about it."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.analysis.scenes import Scene
from qpolicy.analysis.solve import Assumed
from qpolicy.analysis.variables import Value


@dataclass(frozen=True, slots=True)
class Situation:
    """One module under some assumptions; whatever else holds, what was proven of it is so.

    Attributes:
        name: The module's name.
        also: The fused names that it goes by too.
        facts: What is assumed, in words; none for a module of which nothing is assumed.
        values: The same for programs: each variable's name with its value.
    """

    name: str
    also: tuple[str, ...]
    facts: tuple[str, ...]
    values: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, scene: Scene, assumed: Assumed) -> Situation:
        """Return the situation of a scene's module under these assumptions."""
        facts = tuple(told for variable, value in assumed.items() if (told := variable.tell(value)))
        return cls(scene.name, scene.also, facts, tuple((variable.name, value) for variable, value in assumed.items()))

    @property
    def text(self) -> str:
        """In words, such as ``mtp.fc (draft, not has(weight_packed))``."""
        fused = f"part of {' and '.join(self.also)}"
        told = [*([fused] if self.also else []), *self.facts]
        return f"{self.name} ({', '.join(told)})" if told else self.name
