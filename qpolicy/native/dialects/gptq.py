"""The dialect of GPTQ: of AutoGPTQ, GPTQModel and optimum, in ``config.json`` or ``quantize_config.json``."""

from __future__ import annotations

from typing import Any

from pydantic import StrictBool, StrictInt, StrictStr

from qpolicy.native.config import Entry, Group
from qpolicy.native.published import Published, Scheme

NEGATIVE = "-:"
_SETTINGS = {"bits": int, "group_size": int, "desc_act": bool, "sym": bool}


class Gptq(Published):
    """A published GPTQ config.

    ``dynamic`` maps signed regular expressions to overrides, the first that fits decides: ``-:`` leaves a module alone,
    ``+:`` or no sign gives it other settings. ``modules_in_block_to_quantize`` lists what is quantized.
    """

    DIALECT = "gptq"
    METHODS = ("gptq", "gptq_marlin")
    RULES = ("dynamic",)
    INCLUDED = ("modules_in_block_to_quantize",)
    bits: StrictInt | None = None
    group_size: StrictInt | None = None
    desc_act: StrictBool | None = None
    sym: StrictBool | None = None
    lm_head: StrictBool | None = None
    checkpoint_format: StrictStr | None = None
    dynamic: dict[str, Scheme | None] | None = None
    modules_in_block_to_quantize: list[StrictStr] | list[list[StrictStr]] | None = None

    def groups(self, where: str) -> list[Group]:
        """Return the rules of ``dynamic`` in their order, then the settings of all other modules."""
        base = {key: getattr(self, key) for key in _SETTINGS}
        rules = [_rule(key, override or {}, base, where) for key, override in (self.dynamic or {}).items()]
        return [*rules, Group("gptq", "global", (), True, base)]

    def included(self) -> list[tuple[str, list[str]]]:
        """Return the list of modules to quantize; it may be published as a list of lists."""
        names = self.modules_in_block_to_quantize or []
        flat = [one for name in names for one in ([name] if isinstance(name, str) else name)]
        return [("modules_in_block_to_quantize", flat)]


def _rule(key: str, override: Scheme, base: dict[str, Any], where: str) -> Group:
    target = Entry(key, f"{where}.dynamic[{key!r}]", "dynamic")
    # As GPTQModel and the engines do, a value of another type is passed over.
    changed = {name: override[name] for name, kind in _SETTINGS.items() if isinstance(override.get(name), kind)}
    return Group(key, "rule", (target,), not key.startswith(NEGATIVE), {**base, **changed})
