"""The published quantization configs as pydantic models, tolerant of what checkpoints really carry.

A list may be missing or ``null``, keys that nobody here reads are passed over, and the method's name has several
spellings. What is *not* tolerated is a known key of a wrong type: a list whose meaning would have to be guessed.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

__all__ = ["MODELS", "CompressedTensors", "ConfigGroup", "Fp8", "Published", "Quark", "ValidationError"]

Names = list[StrictStr] | None
Scheme = dict[str, Any]

# A list of a million numbers is one mistake, not a million.
_SHOWN = 10
_DEEPEST = 30
_DIALECTS = {
    "compressed-tensors": "compressed-tensors",
    "compressed_tensors": "compressed-tensors",
    "sparseml": "compressed-tensors",
    "quark": "quark",
    "fp8": "fp8",
    "mxfp8": "fp8",
}


class Published(BaseModel):
    """What the models of all dialects share.

    Attributes:
        LISTS: The keys under which this dialect's exclusion lists are published, in reading order.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)
    LISTS: ClassVar[tuple[str, ...]] = ()

    @property
    def format_name(self) -> str | None:
        """The published name of the weights' format, if the dialect has one."""
        return None

    def lists(self) -> Iterable[tuple[str, list[str]]]:
        """Yield each exclusion list that holds something, with its key."""
        return ((key, getattr(self, key) or []) for key in self.LISTS)


class ConfigGroup(BaseModel):
    """One entry of compressed-tensors' ``config_groups``."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    targets: Names = None
    weights: Scheme | None = None
    input_activations: Scheme | None = None
    format: StrictStr | None = None


class Sparsity(BaseModel):
    """Compressed-tensors' ``sparsity_config``; published as ``{}`` by checkpoints without sparsity."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    targets: Names = None
    ignore: Names = None


class CompressedTensors(Published):
    """Written by llm-compressor and by everything that imitates it."""

    LISTS = ("ignore", "ignored_layers", "modules_to_not_convert")
    format: StrictStr | None = None
    ignore: Names = None
    ignored_layers: Names = None
    modules_to_not_convert: Names = None
    config_groups: dict[str, ConfigGroup] | None = None
    sparsity_config: Sparsity | None = None
    linear_fp8_config: Scheme | None = None

    @property
    def format_name(self) -> str | None:
        """The top-level format; ``mixed-precision`` when each group has its own."""
        return self.format


class Quark(Published):
    """Written by AMD Quark."""

    LISTS = ("exclude",)
    exclude: Names = None
    layer_quant_config: dict[str, Scheme] | None = None
    layer_type_quant_config: dict[str, Scheme] | None = None
    global_quant_config: Scheme | None = None
    export: Scheme | None = None


class Fp8(Published):
    """Written by model vendors and by transformers' fine-grained fp8; ``ignore`` is seen as well."""

    LISTS = ("ignored_layers", "modules_to_not_convert", "ignore")
    ignored_layers: Names = None
    modules_to_not_convert: Names = None
    ignore: Names = None
    fmt: StrictStr | None = None
    activation_scheme: StrictStr | None = None
    weight_block_size: list[int] | None = Field(default=None, max_length=8)

    @property
    def format_name(self) -> str | None:
        """The float format, such as ``e4m3``."""
        return self.fmt


MODELS: dict[str, type[Published]] = {"compressed-tensors": CompressedTensors, "quark": Quark, "fp8": Fp8}


def is_too_deep(published: object) -> bool:
    """Tell whether a config is nested more deeply than any that is meant seriously."""
    level = [published]
    for _ in range(_DEEPEST):
        inner = [
            part.values() if isinstance(part, Mapping) else part for part in level if isinstance(part, Mapping | list)
        ]
        level = [item for part in inner for item in part]
        if not level:
            return False
    return True


def dialect_of(method: str, quantization: Mapping[str, Any]) -> str:
    """Return the dialect of a config: a key of `MODELS`, or else a name for what it is."""
    dialect = _DIALECTS.get(method.lower(), method)
    if dialect == "fp8" and quantization.get("moe_quant_algo"):
        # Here "excluded" chooses between two schemes instead of leaving a module alone (SGLang 0.5.23,
        # quantization/modelopt_quant.py: HybridFp8NvFp4Config).
        return f"fp8 with {quantization['moe_quant_algo']} experts"
    return dialect


def leaves_weights(scheme: Scheme | None) -> bool:
    """Tell whether a Quark scheme says, by an explicit null, that the weights stay as they are."""
    return scheme is not None and "weight" in scheme and scheme["weight"] is None


def describe(error: ValidationError, where: str) -> str:
    """Write the first faults that pydantic found, one a line, each with its full path."""
    faults = error.errors(include_url=False)
    lines = [complaint(where + _path(fault["loc"]), _wanted(fault), fault["input"]) for fault in faults[:_SHOWN]]
    return "\n".join(lines + [f"and {len(faults) - _SHOWN} more"] * (len(faults) > _SHOWN))


def complaint(where: str, wanted: str, found: object) -> str:
    """Write one fault: the place, what was expected, what is there, and the fix."""
    # Bounded in depth as well as in length: what was found may be hostile.
    shown = reprlib.repr(found)
    return f"{where}: expected {wanted}, found {shown} ({type(found).__name__}); correct the checkpoint's config file"


def _path(parts: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _wanted(fault: Mapping[str, Any]) -> str:
    kinds = {
        "string_type": "a string",
        "list_type": "a list of strings, or null",
        "dict_type": "an object, or null",
        "model_type": "an object",
    }
    return kinds.get(str(fault["type"]), str(fault["msg"]).removeprefix("Input should be ").lower())
