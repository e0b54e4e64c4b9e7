"""Finds what a decision needs: stored names behind an engine's name, a module's facts, the rules that may decide it."""

from __future__ import annotations

from collections.abc import Iterable

from qpolicy.bind.facts import ModuleFacts
from qpolicy.bind.names import asked_name, stored_name
from qpolicy.bind.passes import Binding
from qpolicy.bind.rule import BoundRule


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
        if not world.draft or world.checkpoint is None:
            return module
        return stored_name(world.row, world.checkpoint, module, world.stored.is_stored, self.draft_layer)

    def as_asked(self, module: str, stored: str) -> str:
        """Return the engine's spelling of a draft's name: the list is read as the engine asks, never by the other."""
        world = self.binding.world
        if module != stored or world.checkpoint is None:
            return module
        return asked_name(world.row, world.checkpoint, stored)

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
