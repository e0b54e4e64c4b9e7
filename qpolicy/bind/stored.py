"""The stored modules seen as an engine asks about them: fused families and experts containers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from qpolicy.checkpoint import Checkpoint, StoredModule, container_of, fused_names

QUANTIZABLE = frozenset({"linear", "moe", "lm_head"})
_HEADS = ("lm_head",)
_EMBEDDINGS = ("embed_tokens", "word_embeddings", "wte")


class StoredIndex:
    """Finds the stored modules behind a name, and the names that a stored module goes by.

    Args:
        modules: The stored modules by name.
        packed: Fused name to the names of its parts.
        tied: Whether the checkpoint's head shares the embedding's tensors.
    """

    def __init__(
        self, modules: Mapping[str, StoredModule], packed: Mapping[str, Sequence[str]], tied: bool = False
    ) -> None:
        self.modules = modules
        self._packed = packed
        self._tied = tied
        self._inside: dict[str, list[str]] = {}
        for name in modules:
            container = container_of(name)
            if container is not None:
                self._inside.setdefault(container, []).append(name)

    @classmethod
    def of(cls, checkpoint: Checkpoint | None, packed: Mapping[str, Sequence[str]]) -> StoredIndex:
        """Return the index of a checkpoint; without one, an empty index."""
        if checkpoint is None:
            return cls({}, packed)
        return cls(checkpoint.modules, packed, checkpoint.tied)

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

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the names by which a pattern may catch this module: its own, then fused and container names."""
        container = container_of(name)
        fused = fused_names(name, self._packed)
        return (name, *fused) if container is None else (name, *fused, container)

    def tensors_of(self, name: str) -> StoredModule | None:
        """Return the module whose tensors a stored name has; a tied head has its embedding's."""
        module = self.modules.get(name)
        if module is not None or not self._tied or name.rpartition(".")[2] not in _HEADS:
            return module
        return next((found for found in self.modules.values() if found.name.rpartition(".")[2] in _EMBEDDINGS), None)

    def quantizable(self) -> Iterable[StoredModule]:
        """Iterate over the modules that a format could quantize: linear, experts and heads."""
        return (module for module in self.modules.values() if module.kind in QUANTIZABLE)
