"""Splits a tensor's name into its module's name and its own name within that module.

The module is the tensor's name without its last part, with three exceptions:

- Stacked experts are parameters, not modules: ``experts.gate_up_proj``, ``experts.gate_up_proj_blocks`` and
  ``experts.gate_up_proj_weight_scale`` belong to the module ``experts.gate_up_proj`` and are there called ``weight``,
  ``blocks`` and ``weight_scale``.
- What belongs to a parameter stays with the parameter's module: ``q_proj.weight.absmax`` is ``weight.absmax`` of
  ``q_proj``, and ``q_proj.weight_quantizer.scale`` is ``weight_quantizer.scale`` of it.
- A name of one part is a module with a ``weight``.
"""

from __future__ import annotations

import re

_STACKED = re.compile(r"([a-z_]*?proj(?:s|ections?)?|w\d{1,2}|v\d|(?:in|out)put_linear)(?:_(.+))?")
"""A projection and what follows it: the names of stacked experts in transformers 5.19 and SGLang 0.5.23."""

_PARTS_OF_A_PARAMETER = (".weight", "_quantizer", ".quant_state")
_NEVER_STACKED = frozenset({"weight", "bias", "weight_scale", "weight_scale_inv", "weight_packed", "weight_shape"})


def split_name(name: str) -> tuple[str, str]:
    """Split a tensor's name.

    Args:
        name: The full name of the tensor on disk.

    Returns:
        The module's name, and the tensor's own name within it.
    """
    module, dot, own = name.rpartition(".")
    if not dot:
        return name, "weight"
    if own not in _NEVER_STACKED and "experts" in module:
        stacked = _STACKED.fullmatch(own)
        if stacked and "experts" in module.split("."):
            return f"{module}.{stacked[1]}", stacked[2] or "weight"
    while module.endswith(_PARTS_OF_A_PARAMETER):
        module, dot, part = module.rpartition(".")
        if not dot:
            return part, own
        own = f"{part}.{own}"
    return module, own


def is_projection(segment: str) -> bool:
    """Whether a module's last segment names a projection, as those of stacked experts are named."""
    found = _STACKED.fullmatch(segment)
    return found is not None and found[2] is None
