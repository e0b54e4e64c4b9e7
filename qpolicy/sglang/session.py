"""A policy, bound to one checkpoint for its target or its draft."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from qpolicy.bind import Decision, Matcher, Policy, World
from qpolicy.checkpoint import FUSED, Checkpoint, StoredModule
from qpolicy.sglang.settings import Mode

ENGINE = "sglang"
Packed = Mapping[str, Sequence[str]]


@dataclass
class Session:
    """Decides the layers of one model.

    Attributes:
        policy: The policy.
        checkpoint: The model's checkpoint.
        draft: Whether the model is the speculative draft.
        mode: What becomes of a contradiction.
        draft_layer: The number of the draft layer that is built, of a draft that SGLang builds layer by layer.
        classes: SGLang's config classes, each with the one that asks this session.
    """

    policy: Policy
    checkpoint: Checkpoint
    draft: bool
    mode: Mode = Mode.STRICT
    draft_layer: int = 0
    classes: dict[Any, Any] = field(default_factory=dict)
    _matchers: dict[tuple[tuple[str, tuple[str, ...]], ...], Matcher] = field(default_factory=dict)

    def matcher(self, packed: Packed) -> Matcher:
        """Return the matcher for a model class's packed mapping; families that it does not name are the common ones.

        Raises:
            BindError: The policy does not fit the checkpoint.
        """
        whole = {**FUSED, **packed}
        key = tuple((fused, tuple(parts)) for fused, parts in whole.items())
        if key not in self._matchers:
            self._matchers[key] = self.policy.bind(
                self.checkpoint,
                engine=ENGINE,
                draft=self.draft,
                packed=whole,
                strict=self.mode is Mode.STRICT,
                draft_layer=self.draft_layer,
            )
        return self._matchers[key]

    def members(self, decision: Decision) -> tuple[StoredModule, ...]:
        """Return the stored modules behind a decision, a tied head's embedding among them."""
        found = (self.world.stored.tensors_of(member.name) for member in decision.members)
        return tuple(module for module in found if module is not None)

    @property
    def world(self) -> World:
        """The checkpoint as this engine sees it, apart from a model class's own packed mapping."""
        return self.matcher({}).binding.world

    @property
    def replaces_nulling(self) -> bool:
        """Whether the policy has a ``drop`` statement, which replaces the engine's own rules for this draft."""
        return self.draft and bool(self.matcher({}).binding.drops)

    @cached_property
    def digest(self) -> str:
        """A digest of everything that decisions follow from, the same on each rank that decides alike."""
        state = hashlib.sha256()
        for part in self._parts():
            state.update(part.encode("utf-8", "surrogatepass"))
            state.update(b"\0")
        return state.hexdigest()

    def __str__(self) -> str:
        layer = f" layer {self.draft_layer}" if self.draft_layer else ""
        model = f"draft{layer}" if self.draft else "target"
        return f"{self.policy.source.name} for the {model} of {self.checkpoint.path}"

    def _parts(self) -> Iterator[str]:
        yield self.policy.source.text
        yield f"{self.draft} {self.draft_layer} {self.mode.value}"
        yield json.dumps(self.checkpoint.config, sort_keys=True, default=str)
        yield json.dumps(self.checkpoint.quantization, sort_keys=True, default=str)
        for module in self.checkpoint.modules.values():
            yield module.name
            for own, tensor in module.tensors.items():
                yield f"{own} {tensor.dtype} {tensor.shape}"
