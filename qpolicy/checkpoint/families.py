"""Fused layers and containers of experts: the names that engines ask for instead of the stored ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from qpolicy.checkpoint.naming import is_projection

FUSED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # SGLang 0.5.23, srt/models: packed_modules_mapping of most classes
        "qkv_proj": ("q_proj", "k_proj", "v_proj"),
        "gate_up_proj": ("gate_proj", "up_proj"),
        # srt/models/qwen3_5.py; Qwen3-Next stores both as they are
        "in_proj_qkvz": ("in_proj_qkv", "in_proj_z"),
        "in_proj_ba": ("in_proj_b", "in_proj_a"),
        # srt/models/bailing_moe_linear.py, glm5_next.py; DeepSeek V2 and V3 fuse alike
        "fused_qkv_a_proj_with_mqa": ("q_a_proj", "kv_a_proj_with_mqa"),
        # srt/models/dots3_common/nextn.py
        "fused_qkv_a_g_proj_with_mqa": ("q_a_proj", "kv_a_proj_with_mqa", "g_proj"),
        # srt/models/kimi_k3.py, glm5_next.py
        "fused_qkvg_proj": ("q_proj", "k_proj", "v_proj", "g_proj"),
        "fused_qkvbfg_a_proj": ("q_proj", "k_proj", "v_proj", "b_proj", "f_a_proj", "g_a_proj"),
        "fused_bfg_a_proj": ("b_proj", "f_a_proj", "g_a_proj"),
        "fused_fg_b_proj": ("f_b_proj", "g_b_proj"),
        # srt/models/minimax_m3.py
        "index_qkv_proj": ("index_q_proj", "index_k_proj"),
    }
)
"""A fused layer's last segment to those of its parts."""


def fused_of(packed: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the reverse of a packed mapping: a part's last segment to those of the fused layers it may be part of."""
    parts = {part for row in packed.values() for part in row}
    return {part: tuple(fused for fused, row in packed.items() if part in row and part != fused) for part in parts}


_FUSED_OF = fused_of(FUSED)


def fused_names(name: str, packed: Mapping[str, Sequence[str]] = FUSED) -> tuple[str, ...]:
    """Return the names of the fused layers that a module may be part of.

    Args:
        name: A stored module's name.
        packed: A fused layer's last segment to those of its parts, as the model class of an engine maps them.

    Returns:
        The fused names, ``("a.qkv_proj",)`` for ``"a.q_proj"``; empty for a module that is part of none.
    """
    stem, dot, last = name.rpartition(".")
    fused = _FUSED_OF.get(last, ()) if packed is FUSED else fused_of(packed).get(last, ())
    return tuple(f"{stem}{dot}{other}" for other in fused)


def container_of(name: str) -> str | None:
    """Return the name of the experts container that a module is part of, or None.

    Args:
        name: A stored module's name: ``"X.experts.3.up_proj"`` or, stacked, ``"X.experts.gate_up_proj"``.

    Returns:
        ``"X.experts"`` for both; None for a module that is part of no expert (a router, a shared expert).
    """
    if "experts" not in name:
        return None
    segments = name.split(".")
    for index in range(len(segments) - 2, -1, -1):
        if segments[index] == "experts":
            inside = segments[index + 1].isdecimal() or is_projection(segments[-1])
            return ".".join(segments[: index + 1]) if inside else None
    return None
