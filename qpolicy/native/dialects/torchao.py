"""The dialect of torchao, as transformers writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import StrictBool, StrictStr, field_validator

from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Names, Published, Scheme

_MAPS = ("fqn_to_config", "module_fqn_to_config")
_DEFAULT = "_default"


class TorchAo(Published):
    """A published torchao config.

    ``quant_type.default`` is one serialized torchao config; an ``FqnToConfig`` maps names of modules or parameters, or
    ``re:`` expressions, to a config or, to leave them alone, to null.
    """

    DIALECT = "torchao"
    METHODS = ("torchao",)
    LISTS = ("modules_to_not_convert",)
    RULES = ("quant_type",)
    quant_type: StrictStr | dict[str, Any] | None = None
    modules_to_not_convert: Names = None
    include_input_output_embeddings: StrictBool | None = None

    @field_validator("quant_type")
    @classmethod
    def _maps_hold_configs(cls, value: Any) -> Any:
        for key, config in _by_name(value)[1].items():
            if config is not None and not isinstance(config, dict):
                raise ValueError(f"a config (an object) or null for {key!r}")
        return value

    @property
    def format_name(self) -> str | None:
        """The name of the config, such as ``Int8WeightOnlyConfig``."""
        if isinstance(self.quant_type, str):
            return self.quant_type
        kind = _inner(self.quant_type).get("_type")
        return kind if isinstance(kind, str) else None

    def groups(self, where: str) -> list[Group]:
        """Return the map from names in its order, then what all other modules get, which may be nothing."""
        key, configs = _by_name(self.quant_type)
        rules = [
            _rule(name, config, f"{where}.quant_type.default._data.{key}")
            for name, config in configs.items()
            if name != _DEFAULT
        ]
        quantized = configs.get(_DEFAULT) is not None or not key
        return [*rules, Group("torchao", "global", (), quantized, configs.get(_DEFAULT) if key else self.quant_type)]


def _rule(name: str, config: Scheme | None, where: str) -> Group:
    return Group(name, "rule", (Entry(name, f"{where}[{name!r}]", "quant_type"),), config is not None, config)


def _inner(quant_type: Any) -> Mapping[str, Any]:
    default = quant_type.get("default") if isinstance(quant_type, dict) else None
    return default if isinstance(default, dict) else {}


def _by_name(quant_type: Any) -> tuple[str, dict[str, Any]]:
    """Return the key and the map from names to configs; both are empty when one config is for all."""
    data = _inner(quant_type).get("_data")
    found = [(key, data[key]) for key in _MAPS if isinstance(data, dict) and isinstance(data.get(key), dict)]
    return next(((key, value) for key, value in found if value), found[0] if found else ("", {}))
