"""What SGLang's CPU path needs to build models: the one import without a CPU build, and an answer about capability."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from importlib.util import find_spec


def start(capability: tuple[int, int]) -> None:
    """Fill in what SGLang looks for on its CPU path.

    Args:
        capability: What to answer to schemes that ask for a device's capability before they choose.
    """
    import torch  # noqa: PLC0415

    if find_spec("vllm") is None:
        _name_the_rotary_kernel()
    answers = {"current_device": "cpu", "get_device_capability": capability}
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_args, answer=answer, **_options: answer)


def _name_the_rotary_kernel() -> None:
    # RotaryEmbedding binds this function when it finds no GPU (sglang 0.5.23: srt/layers/rotary_embedding/base.py);
    # building and loading never call it.
    vllm, operations = types.ModuleType("vllm"), types.ModuleType("vllm._custom_ops")
    vars(operations)["rotary_embedding"] = lambda *_args, **_options: None
    vars(vllm)["_custom_ops"] = operations
    for module in (vllm, operations):
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
        sys.modules[module.__name__] = module
