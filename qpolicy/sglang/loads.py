"""Whether what a layer is built for can be compared with the tensors on disk; the facts are in ``loads.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from qpolicy.checkpoint import Checkpoint
from qpolicy.sglang.own_class import base_class


def why_uncompared(load_config: Any, checkpoint: Checkpoint) -> str:
    """Tell why no layer of a model is compared with the disk.

    Args:
        load_config: SGLang's load config.
        checkpoint: The model's checkpoint.

    Returns:
        The reason, or an empty string where layers are compared.
    """
    load_format = getattr(load_config, "load_format", "auto")
    if isinstance(load_format, type):
        return f"the weights come from a loader of its own, {load_format.__name__}"
    if not checkpoint.modules:
        return "the checkpoint has no safetensors headers"
    reason: str = _table()["formats"].get(str(getattr(load_format, "value", load_format)), "")
    return reason


def quantizes_online(method: Any, config: Any, checkpoint: Checkpoint) -> bool:
    """Whether a method quantizes plain weights while they load, so that plain weights are what it wants on disk.

    Args:
        method: The layer's quantization method.
        config: The config that was asked.
        checkpoint: The model's checkpoint.
    """
    if checkpoint.quantization is None:
        return True
    own = getattr(method, "quant_config", None)
    holders = [holder for holder in (method, own or config) if holder is not None]
    return any(_says_online(holder) for holder in holders)


def _says_online(holder: Any) -> bool:
    table = _table()
    return (
        any(getattr(holder, name, True) is False for name in table["false_means"])
        or any(getattr(holder, name, None) for name in table["true_means"])
        or base_class(holder).__name__ in table["always"]
    )


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("loads.toml").read_text(encoding="utf-8"))
