"""The dialect of llm-compressor, and of everything that imitates it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, StrictStr

from qpolicy.native.arguments import weight_arguments
from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Names, Published, Scheme


class ConfigGroup(BaseModel):
    """One entry of ``config_groups``."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    targets: Names = None
    weights: Scheme | None = None
    input_activations: Scheme | None = None
    format: StrictStr | None = None


class Sparsity(BaseModel):
    """The ``sparsity_config``; published as ``{}`` by checkpoints without sparsity."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    targets: Names = None
    ignore: Names = None


class CompressedTensors(Published):
    """A published compressed-tensors config."""

    DIALECT = "compressed-tensors"
    METHODS = ("compressed-tensors", "compressed_tensors", "sparseml")
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

    def groups(self, where: str) -> list[Group]:
        """Return the ``config_groups``."""
        return [self._group(name, group, where) for name, group in (self.config_groups or {}).items()]

    def _group(self, name: str, group: ConfigGroup, where: str) -> Group:
        targets = tuple(
            Entry(text, f"{where}.config_groups.{name}.targets[{position}]", "targets")
            for position, text in enumerate(group.targets or ())
        )
        return Group(name, "group", targets, group.weights is not None, weight_arguments(group, self.format))
