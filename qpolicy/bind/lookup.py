"""Finds what a decision needs: stored names behind an engine's name, a module's facts, the rules that may decide it."""

from __future__ import annotations

from collections.abc import Iterable

from qpolicy.bind.architectures import Architecture, fold
from qpolicy.bind.facts import ModuleFacts
from qpolicy.bind.names import asked_name, stored_name
from qpolicy.bind.passes import Binding
from qpolicy.bind.rule import BoundRule
from qpolicy.bind.target_names import target_asked_names, target_stored_name


class Lookup:
    """Looks things up in a binding.

    Attributes:
        binding: Everything that binding worked out.
        draft_layer: The number of the draft layer that is built, of a draft that has several.
    """

    def __init__(self, binding: Binding, draft_layer: int = 0) -> None:
        self.binding = binding
        self.draft_layer = draft_layer
        self._everywhere = tuple(rule.index for rule in binding.rules if rule.patterns is None)

    def stored(self, module: str) -> str:
        """Return the stored name that an engine's name stands for, whether or not anything is stored under it.

        Raises:
            BindError: The name is a draft's and cannot be translated.
        """
        world = self.binding.world
        if world.checkpoint is None:
            return module
        if not world.draft:
            return target_stored_name(world.engine_name, module, world.stored.is_stored)
        return stored_name(world.row, world.checkpoint, module, world.stored.is_stored, self.draft_layer)

    def as_asked(self, module: str, stored: str) -> str:
        """Return the spelling in which a list is asked: the engine's, or the stored one where it rewrites its lists."""
        world = self.binding.world
        if world.checkpoint is None:
            return module
        if not world.draft:
            return self._target_as_asked(module, stored)
        asked = module if module != stored else asked_name(world.row, world.checkpoint, stored)
        leaf = asked.rpartition(".")[2]
        return leaf if world.row is not None and leaf in world.row.unnumbered else asked

    def _target_as_asked(self, module: str, stored: str) -> str:
        known = self.binding.world.architecture
        if known is None:
            return module
        if known.prefixes:
            return stored  # its lists are rewritten to the engine's names; here they stand as they are
        if _has(known, fold(module)) or not any(_has(known, name) for name in self._target_names(fold(stored))):
            return module
        return next(name for name in self._target_names(stored) if _has(known, fold(name)))

    def _target_names(self, stored: str) -> tuple[str, ...]:
        return target_asked_names(self.binding.world.engine_name, stored)

    def kind(self, names: Iterable[str]) -> str:
        """Return the kind that some stored modules are asked as; ``linear`` when there are none to tell by."""
        modules = self.binding.world.stored.modules
        kinds = [modules[name].kind for name in names]
        return next((kind for kind in kinds if kind), "other" if kinds else "linear")

    def facts(self, stored: str, kind: str, within: str | None = None) -> ModuleFacts:
        """Return the facts about one stored module.

        Args:
            stored: Its name.
            kind: The kind that it is asked as.
            within: A container that it is built into, where its own name does not say so.
        """
        aliases = self.binding.world.stored.aliases(stored)
        return ModuleFacts(self.binding.facts, stored, kind, aliases if within is None else (*aliases, within))

    def candidates(self, aliases: Iterable[str]) -> tuple[BoundRule, ...]:
        """Return the rules whose patterns match one of these names, in order; conditions are not looked at."""
        matched = {position for alias in aliases for position in self.binding.index.matches(alias)}
        return tuple(self.binding.rules[position] for position in sorted(matched.union(self._everywhere)))


def _has(known: Architecture, folded: str) -> bool:
    return folded in known.asked or folded in known.unasked
