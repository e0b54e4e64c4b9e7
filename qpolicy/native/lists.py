"""The exclusion list of a config as one object: what to use in place of a substring test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qpolicy.errors import BindError, MixedMembers
from qpolicy.native.config import read_config
from qpolicy.native.reading import engine_reading


class NativeList:
    """An exclusion list as one engine reads it.

    Attributes:
        config: The config it was read from.
        reading: The engine's whole reading, schemes included.
    """

    def __init__(
        self, quantization_config: Mapping[str, Any], engine: str, packed: Mapping[str, Sequence[str]] | None
    ) -> None:
        self.config = read_config(quantization_config)
        self.reading = engine_reading(self.config, engine, packed)

    def excludes(self, name: str, kind: str = "linear") -> bool:
        """Tell whether the list excludes a layer.

        Args:
            name: The engine's name of the layer.
            kind: ``linear``, ``moe``, ``lm_head`` or ``embedding``.

        Raises:
            MixedMembers: The list excludes some members of the layer and not others, which the engine refuses.
            BindError: How this engine reads this config is not known, or the engine stops at a broken entry.
        """
        if not self.reading.supported:
            why = self.reading.ask(name, kind).why
            raise BindError(f"{name}: {why}; name an engine and a config whose reading is known")
        listed = self.reading.listed(name, kind)
        if listed.members is not None:
            why = listed.error or f"the list excludes some of {', '.join(listed.members[0] + listed.members[1])}"
            raise MixedMembers(name, *listed.members, f"{name}: {why}; list all of its members or none")
        if listed.error is not None:
            raise BindError(f"{name}: {listed.error}; correct the entry")
        return listed.excluded

    def explain(self, name: str, kind: str = "linear") -> str:
        """Return in words what becomes of a layer, and the entries that matched it."""
        answer = self.reading.ask(name, kind)
        lines = [f"{name} ({kind}): {answer.outcome or 'unknown'} by {self.reading.engine}: {answer.why}"]
        for entry in answer.entries:
            lines.append(f"  {entry.where}: {entry.text!r} by {' or '.join(self.reading.operators(entry))}")
        return "\n".join(lines)


def native_list(
    quantization_config: Mapping[str, Any], engine: str = "sglang", packed: Mapping[str, Sequence[str]] | None = None
) -> NativeList:
    """Read an exclusion list.

    Args:
        quantization_config: The checkpoint's ``quantization_config``.
        engine: Who reads it, as for `engine_reading`.
        packed: The model's fused families as the engine declares them; None when it declares none.

    Raises:
        NativeConfigError: The config is malformed, or an entry cannot be matched in bounded time.
    """
    return NativeList(quantization_config, engine, packed)
