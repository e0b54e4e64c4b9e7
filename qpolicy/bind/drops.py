"""What the drops that fired leave unquantized: a whole draft, or some modules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from qpolicy.bind.lookup import Lookup
from qpolicy.bind.rule import BoundRule
from qpolicy.errors import BindError
from qpolicy.lang.tree import Drop

_HEADS = ("model.shared_head.head", "lm_head")


class Drops:
    """The drops of one binding whose conditions are true.

    Args:
        lookup: Finds names in the binding.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._world = lookup.binding.world
        self._fired = tuple(drop.rule for drop in lookup.binding.drops if drop.truth is True)

    @cached_property
    def whole_draft(self) -> BoundRule | None:
        """The drop that fired over the whole draft, when the draft is being built and one did."""
        if not self._world.draft:
            return None
        return next((rule for rule in self._fired if self._covers_draft(rule)), None)

    @cached_property
    def kept_head(self) -> str | None:
        """The stored name of the dropped draft's head where the head is quantized on disk and needs its config."""
        if self.whole_draft is None or self._world.checkpoint is None:
            return None
        names = (self._stored(head) for head in _HEADS)
        found = ((name, self._world.stored.tensors_of(name)) for name in names if name is not None)
        return next((name if module.quantized else None for name, module in found if module is not None), None)

    @property
    def everything(self) -> bool:
        """Whether the draft is to be built without a quantization config."""
        return self.whole_draft is not None and self.kept_head is None

    def over(self, stored: str, aliases: Iterable[str]) -> BoundRule | None:
        """Return the drop that leaves a stored module unquantized, if one does."""
        if self.everything:
            return self.whole_draft
        names = tuple(aliases)
        return None if stored == self.kept_head else next((rule for rule in self._fired if _over(rule, names)), None)

    def _covers_draft(self, rule: BoundRule) -> bool:
        checkpoint = self._world.checkpoint
        if checkpoint is None:
            return isinstance(rule.node, Drop) and rule.node.scope.name == "mtp"
        stored = self._world.stored
        draft = [module.name for module in stored.quantizable() if checkpoint.is_draft_name(module.name)]
        return bool(draft) and all(_over(rule, stored.aliases(name)) for name in draft)

    def _stored(self, module: str) -> str | None:
        try:
            return self._lookup.stored(module)
        except BindError:
            return None


def _over(rule: BoundRule, names: Iterable[str]) -> bool:
    return any(pattern.matches(name) for pattern in rule.patterns or () for name in names)
