"""The dialect of AMD Quark."""

from __future__ import annotations

from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Names, Published, Scheme


class Quark(Published):
    """A published Quark config."""

    DIALECT = "quark"
    METHODS = ("quark",)
    LISTS = ("exclude",)
    exclude: Names = None
    layer_quant_config: dict[str, Scheme] | None = None
    layer_type_quant_config: dict[str, Scheme] | None = None
    global_quant_config: Scheme | None = None
    export: Scheme | None = None

    def groups(self, where: str) -> list[Group]:
        """Return the schemes of single layers, of types of layers, and of all the others."""
        found = []
        for role, key, schemes in (
            ("layer", "layer_quant_config", self.layer_quant_config),
            ("type", "layer_type_quant_config", self.layer_type_quant_config),
        ):
            for name, scheme in (schemes or {}).items():
                target = Entry(name, f"{where}.{key}[{name!r}]", key)
                found.append(Group(name, role, (target,), not _leaves_weights(scheme), scheme))
        overall = self.global_quant_config
        return [*found, Group("global", "global", (), not _leaves_weights(overall), overall)]


def _leaves_weights(scheme: Scheme | None) -> bool:
    """Tell whether a scheme says, by an explicit null, that the weights stay as they are."""
    return scheme is not None and "weight" in scheme and scheme["weight"] is None
