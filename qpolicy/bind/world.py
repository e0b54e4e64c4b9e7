"""Who asks about what: a checkpoint, an engine, target or draft, and how both read the checkpoint's list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from qpolicy.bind.architectures import Architecture, architecture
from qpolicy.bind.consulted import consulted
from qpolicy.bind.names_table import DraftRow, draft_row
from qpolicy.bind.stored import StoredIndex
from qpolicy.checkpoint import FUSED, Checkpoint
from qpolicy.native import Mapper, NativeConfig, Reading, draft_nulling, engine_reading, producer_reading, read_config
from qpolicy.native.versions import engine_and_version


@dataclass(frozen=True)
class World:
    """The surroundings of every decision of one matcher.

    Attributes:
        checkpoint: The checkpoint, or None when there is none at hand.
        engine: Name of the engine that asks, perhaps with a version.
        draft: Whether the model under construction is the speculative draft.
        packed: Fused name to the names of its parts, as the engine's model class has it.
        strict: Whether an unknown condition that could matter is an error.
        declared: The fused families with which the engine reads lists, where they are known and fewer than ``packed``.
    """

    checkpoint: Checkpoint | None
    engine: str
    draft: bool
    packed: Mapping[str, Sequence[str]] = field(default_factory=lambda: FUSED)
    strict: bool = False
    declared: Mapping[str, Sequence[str]] | None = None

    @classmethod
    def known(cls, checkpoint: Checkpoint | None, engine: str, draft: bool, strict: bool) -> World:
        """Return the world of a model class as far as the table of architectures knows it.

        A class fuses what it declares; that the other common families are fused as well is assumed. Lists are read
        with what it declares and nothing else.
        """
        architecture = cls(checkpoint, engine, draft).architecture
        if architecture is None:
            return cls(checkpoint, engine, draft, FUSED, strict)
        return cls(checkpoint, engine, draft, {**FUSED, **architecture.packed}, strict, architecture.packed)

    @property
    def engine_name(self) -> str:
        """The engine's name without a version."""
        return engine_and_version(self.engine)[0]

    @cached_property
    def stored(self) -> StoredIndex:
        """The checkpoint's modules as the asker sees them."""
        only_stored = {} if self.row is None else self.row.packed
        return StoredIndex(self.checkpoint, {**self.packed, **only_stored})

    @cached_property
    def consulted(self) -> Checkpoint | None:
        """The checkpoint with the quantization config that this engine reads, where it has several."""
        return None if self.checkpoint is None else consulted(self.checkpoint, self.engine)

    @cached_property
    def config(self) -> NativeConfig | None:
        """The quantization config that the engine reads, or None when the checkpoint has none."""
        found = self.consulted
        if found is None or found.quantization is None:
            return None
        return read_config(found.quantization, found.quantization_file or "quantization_config")

    @cached_property
    def row(self) -> DraftRow | None:
        """The row of draft names for this checkpoint's architecture; None for a target or an unknown draft."""
        if not self.draft or self.checkpoint is None:
            return None
        return draft_row(self.engine_name, self.checkpoint.architectures)

    @cached_property
    def architecture(self) -> Architecture | None:
        """What the engine's model class is known to ask; None where the table of architectures does not have it."""
        if self.checkpoint is None or (self.draft and self.row is None):
            return None
        draft_class = self.row.draft_class if self.row is not None else None
        return architecture(self.engine, self.checkpoint.architectures, draft_class)

    @cached_property
    def producer(self) -> Reading | None:
        """The list as its producer reads it: the fact ``excluded``."""
        return None if self.config is None else producer_reading(self.config, packed=self.packed)

    @cached_property
    def reading(self) -> Reading | None:
        """The list as the engine reads it: the decision ``native``."""
        if self.config is None:
            return None
        packed = self.packed if self.declared is None else self.declared
        mapper = Mapper(substr=self.row.list_substr) if self.row and self.row.list_substr else None
        return engine_reading(self.config, self.engine, packed, mapper)

    @cached_property
    def nulled(self) -> str | None:
        """Why the engine by itself builds this draft without a quantization config, or None when it does not."""
        if not self.draft or self.config is None or self.checkpoint is None:
            return None
        for arch in self.checkpoint.architectures:
            reason = draft_nulling(self.config, self.engine, arch, self.checkpoint.num_hidden_layers)
            if reason is not None:
                return reason
        return None
