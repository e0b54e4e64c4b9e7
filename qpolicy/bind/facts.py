"""What the facts of a condition come to, for one checkpoint and for one of its modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from qpolicy.bind.kleene import Truth, all_of, negated
from qpolicy.bind.unasked import built_unasked
from qpolicy.bind.world import World
from qpolicy.checkpoint import StoredModule
from qpolicy.lang.tree import About, DtypeIs, Fact, Flag, Has, Is, PathIn, Selector
from qpolicy.paths import Pattern, PatternIndex

Expand: TypeAlias = Callable[[Selector], Sequence[Pattern]]


@dataclass
class WorldFacts:
    """Facts about the checkpoint as a whole and about who asks.

    Attributes:
        world: The checkpoint and the asker.
        expand: Turns a selector into patterns.
    """

    world: World
    expand: Expand
    _selected: dict[Selector, tuple[StoredModule, ...]] = field(default_factory=dict)
    _about: dict[About, Truth] = field(default_factory=dict)

    def ask(self, fact: Fact) -> Truth:
        """Return the truth of a fact that does not concern a single module.

        Raises:
            AssertionError: The fact concerns a module; the language does not allow it here.
        """
        match fact:
            case Flag("draft"):
                return self.world.draft
            case Flag("target"):
                return not self.world.draft
            case Is(name, values):
                return self._is(name, values)
            case About():
                if fact not in self._about:
                    self._about[fact] = self._ask_about(fact)
                return self._about[fact]
        raise AssertionError(f"{fact} is not a fact about a whole checkpoint")

    def select(self, selector: Selector) -> tuple[StoredModule, ...]:
        """Return the quantizable stored modules that a selector selects, by their own, fused or container names."""
        if selector not in self._selected:
            index = PatternIndex([self.expand(selector)])
            self._selected[selector] = tuple(
                module
                for module in self.world.stored.quantizable()
                if any(index.matches(alias) for alias in self.world.stored.aliases(module.name))
                and not built_unasked(self.world, module.name)
            )
        return self._selected[selector]

    def excluded(self, name: str, kind: str) -> Truth:
        """Whether the checkpoint's list excludes a stored module, as the list's producer reads it."""
        if self.world.checkpoint is None:
            return None
        reading = self.world.producer
        if reading is None:
            return False
        return reading.listed(name, kind).excluded if reading.supported else None

    def _ask_about(self, fact: About) -> Truth:
        if self.world.checkpoint is None or not self.world.stored.modules:
            return None
        modules = self.select(fact.selector)
        if fact.name == "exists":
            return bool(modules)
        if not modules:
            return None
        match fact.name:
            case "excluded":
                return all_of(self.excluded(module.name, module.kind or "linear") for module in modules)
            case "quantized_on_disk":
                return all_of(module.quantized for module in modules)
            case _:
                return all_of(negated(module.quantized) for module in modules)

    def _is(self, name: str, values: Sequence[str]) -> Truth:
        if name == "engine":
            return self.world.engine_name in values
        if self.world.checkpoint is None:
            return None
        if name == "arch":
            return any(arch in values for arch in self.world.checkpoint.architectures)
        config = self.world.config
        if config is None:
            return False
        return (config.method if name == "method" else config.format) in values


@dataclass(frozen=True)
class ModuleFacts:
    """Facts about one stored module.

    Attributes:
        world: The facts about everything else.
        name: The stored module's name.
        kind: The kind that the engine asks it as.
        aliases: The names by which a pattern may catch it.
    """

    world: WorldFacts
    name: str
    kind: str
    aliases: tuple[str, ...]

    @property
    def tensors(self) -> StoredModule | None:
        """The module whose tensors it has; None when nothing is stored under its name."""
        return self.world.world.stored.tensors_of(self.name)

    def ask(self, fact: Fact) -> Truth:
        """Return the truth of a fact for this module."""
        match fact:
            case Flag("excluded"):
                return self.world.excluded(self.name, self.kind)
            case Flag("quantized_on_disk") | Has() | DtypeIs():
                return self._of_tensors(fact)
            case Is("kind", values):
                return self.kind in values
            case PathIn(selectors):
                patterns = [pattern for selector in selectors for pattern in self.world.expand(selector)]
                return any(pattern.matches(alias) for pattern in patterns for alias in self.aliases)
        return self.world.ask(fact)

    def _of_tensors(self, fact: Flag | Has | DtypeIs) -> Truth:
        module = self.tensors
        if module is None:
            return None
        match fact:
            case Flag():
                return module.quantized
            case Has(tensors):
                return all(tensor in module.tensors for tensor in tensors)
            case DtypeIs(name, dtypes):
                return self._dtype(module, name, dtypes)

    @staticmethod
    def _dtype(module: StoredModule, name: str, dtypes: Sequence[str]) -> Truth:
        tensor = module.tensors.get(name)
        if tensor is None:
            return False
        return None if tensor.dtype is None else tensor.dtype in dtypes
