"""The dialect of ModelSlim (Ascend): ``quant_model_description.json`` names the scheme of every tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, model_validator

from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Published

UNQUANTIZED = "FLOAT"
_TENSORS = (".weight", ".bias", ".weight_scale", ".weight_offset", ".deq_scale", ".input_scale", ".quant_bias")


class ModelSlim(Published):
    """A published tensor map; ``quant_method`` is added by whoever loads it.

    A value ``FLOAT`` leaves a tensor alone; a tensor that the map lacks is not quantized either.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    DIALECT = "modelslim"
    METHODS = ("modelslim", "ascend")
    RULES = ("quant_model_description",)

    @classmethod
    def claims(cls, method: str, quantization: Mapping[str, Any]) -> bool:
        """Tell whether a config is such a map, also without a method."""
        return super().claims(method, quantization) or (method == "unnamed" and "model_quant_type" in quantization)

    @model_validator(mode="after")
    def _tensors_have_schemes(self) -> ModelSlim:
        for name, scheme in (self.model_extra or {}).items():
            if name.endswith(_TENSORS) and not isinstance(scheme, str):
                raise ValueError(f"the name of a scheme (a string) for {name!r}")
        return self

    @property
    def format_name(self) -> str | None:
        """The scheme of most tensors, such as ``W8A8_DYNAMIC``."""
        kind = (self.model_extra or {}).get("model_quant_type")
        return kind if isinstance(kind, str) else None

    def groups(self, where: str) -> list[Group]:
        """Return each scheme with the weights that have it."""
        weights: dict[str, list[Entry]] = {}
        for name, scheme in (self.model_extra or {}).items():
            if name.endswith(".weight"):
                weights.setdefault(scheme, []).append(Entry(name, f"{where}[{name!r}]", "quant_model_description"))
        return [Group(name, "rule", tuple(found), name != UNQUANTIZED, name) for name, found in weights.items()]
