"""The stored modules seen as an engine asks about them: fused families and experts containers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from qpolicy.checkpoint import Checkpoint, StoredModule, container_of, fused_of

QUANTIZABLE = frozenset({"linear", "moe", "lm_head"})
_SHARED = re.compile(r"(.*\.|)shared_experts?\.[^.]+")


def is_shared(name: str) -> bool:
    """Whether a stored module is a projection of shared experts."""
    return _SHARED.fullmatch(name) is not None


class StoredIndex:
    """Finds the stored modules behind a name, and the names that a stored module goes by.

    Args:
        checkpoint: The checkpoint; without one, nothing is stored.
        packed: Fused name to the names of its parts.
    """

    def __init__(self, checkpoint: Checkpoint | None, packed: Mapping[str, Sequence[str]]) -> None:
        self.modules: Mapping[str, StoredModule] = {} if checkpoint is None else checkpoint.modules
        self._checkpoint = checkpoint
        self._packed = packed
        self._fused_of = fused_of(packed)
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._containers = {name: container_of(name) for name in self.modules}
        self._inside: dict[str, list[str]] = {}
        for name, container in self._containers.items():
            if container is not None:
                self._inside.setdefault(container, []).append(name)

    def members(self, name: str) -> tuple[str, ...]:
        """Return the stored modules that a name in the stored spelling stands for.

        A name that is on disk stands for itself, also where it is a fused one. Otherwise a fused name stands for its
        parts on disk and a container for the experts' projections. Nothing else covers other modules.
        """
        if name in self.modules:
            return (name,)
        head, _, leaf = name.rpartition(".")
        prefix = f"{head}." if head else ""
        parts = tuple(prefix + part for part in self._packed.get(leaf, ()) if prefix + part in self.modules)
        return parts or tuple(self._inside.get(name, ()))

    def is_stored(self, name: str) -> bool:
        """Whether anything on disk goes by this name."""
        return bool(self.members(name))

    def fused(self, name: str) -> tuple[str, ...]:
        """Return the names of the fused layers that a module may be part of."""
        head, dot, leaf = name.rpartition(".")
        return tuple(f"{head}{dot}{fused}" for fused in self._fused_of.get(leaf, ()))

    def container(self, name: str) -> str | None:
        """Return the experts container that a module is part of, if it is part of one."""
        return self._containers[name] if name in self._containers else container_of(name)

    def shared(self, container: str) -> tuple[str, ...]:
        """Return the projections of the shared experts that stand beside an experts container.

        Some engines build them as one more expert of it.
        """
        return tuple(self._shared.get(container, ()))

    @cached_property
    def _shared(self) -> Mapping[str, list[str]]:
        beside: dict[str, list[str]] = {}
        for name in self.modules:
            found = _SHARED.fullmatch(name)
            if found is not None:
                beside.setdefault(f"{found[1]}experts", []).append(name)
        return beside

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the names by which a pattern may catch this module: its own, then fused and container names."""
        known = self._aliases.get(name)
        if known is None:
            container = self.container(name)
            own = (name, *self.fused(name))
            known = own if container is None else (*own, container)
            if name in self.modules:
                self._aliases[name] = known
        return known

    def tensors_of(self, name: str) -> StoredModule | None:
        """Return the module whose tensors a stored name has; a tied head has its embedding's."""
        return None if self._checkpoint is None else self._checkpoint.find(name)

    def quantizable(self) -> Iterable[StoredModule]:
        """Iterate over the modules that a format could quantize: linear, experts and heads."""
        return (module for module in self.modules.values() if module.kind in QUANTIZABLE)
