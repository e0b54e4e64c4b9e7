"""The dialect of Intel's AutoRound, in its own format (it also exports to those of AWQ, GPTQ and llm-compressor)."""

from __future__ import annotations

from typing import Any

from pydantic import StrictBool, StrictInt, StrictStr

from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Names, Published, Scheme

FULL_PRECISION = 16


class AutoRound(Published):
    """A published AutoRound config.

    ``extra_config`` maps module names or regular expressions to settings, where 16 bits leave a module alone;
    ``block_name_to_quantize`` lists the blocks outside of which nothing is quantized unless it is named.
    """

    DIALECT = "auto-round"
    METHODS = ("auto-round", "auto_round", "intel/auto-round")
    LISTS = ("modules_to_not_convert",)
    RULES = ("extra_config",)
    INCLUDED = ("block_name_to_quantize", "to_quant_block_names")
    bits: StrictInt | None = None
    group_size: StrictInt | list[StrictInt] | None = None
    sym: StrictBool | None = None
    packing_format: StrictStr | None = None
    data_type: StrictStr | None = None
    backend: StrictStr | None = None
    extra_config: dict[str, Scheme] | None = None
    dynamic: dict[str, Scheme | None] | None = None
    modules_to_not_convert: Names = None
    block_name_to_quantize: StrictStr | list[StrictStr] | list[list[StrictStr]] | None = None
    to_quant_block_names: StrictStr | list[StrictStr] | list[list[StrictStr]] | None = None

    @property
    def format_name(self) -> str | None:
        """The packing format, such as ``auto_round:auto_gptq``."""
        return self.packing_format

    def groups(self, where: str) -> list[Group]:
        """Return the settings of ``extra_config`` in their order, then those of all other modules."""
        base = {"bits": self.bits, "group_size": self.group_size, "sym": self.sym}
        rules = [_rule(key, settings, where) for key, settings in (self.extra_config or {}).items()]
        return [*rules, Group("auto-round", "global", (), True, base)]

    def included(self) -> list[tuple[str, list[str]]]:
        """Return the blocks to quantize: of the two spellings, the first that is there."""
        for key in self.INCLUDED:
            value = getattr(self, key)
            if value is not None:
                return [(key, _flat(value))]
        return []


def _rule(key: str, settings: Scheme, where: str) -> Group:
    bits = settings.get("bits")
    target = Entry(key, f"{where}.extra_config[{key!r}]", "extra_config")
    return Group(key, "rule", (target,), not (isinstance(bits, int) and bits >= FULL_PRECISION), settings)


def _flat(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split(",")
    return [one for item in value for one in ([item] if isinstance(item, str) else item)]
