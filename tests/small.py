"""Small checkpoints for tests of binding: a name's state in a word, and the config that goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checkpoints import write_checkpoint

import qpolicy
from qpolicy.bind import Matcher

PLAIN = {"weight": ("BF16", (64, 64))}
PACKED = {"weight_packed": ("I32", (64, 8)), "weight_scale": ("BF16", (64, 2)), "weight_shape": ("I64", (2,))}
FP8 = {"weight": ("F8_E4M3", (64, 64)), "weight_scale_inv": ("F32", (1, 1))}
MXFP4 = {"weight": ("U8", (64, 32)), "weight_scale": ("U8", (64, 2))}
NVFP4 = {"weight": ("U8", (64, 32)), "weight_scale": ("F8_E4M3", (64, 4)), "weight_scale_2": ("F32", ())}
QWEIGHT = {"qweight": ("I32", (8, 64)), "qzeros": ("I32", (2, 8)), "scales": ("F16", (2, 64))}
STATES = {
    "plain": PLAIN,
    "packed": PACKED,
    "fp8": FP8,
    "mxfp4": MXFP4,
    "nvfp4": NVFP4,
    "qweight": QWEIGHT,
    "norm": {"weight": ("BF16", (64,))},
}

INT4 = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 32, "dynamic": False}


def compressed(ignore: Sequence[str] = (), targets: Sequence[str] = ("Linear",)) -> dict[str, Any]:
    """A compressed-tensors quantization config."""
    group = {"targets": list(targets), "weights": INT4, "input_activations": None}
    return {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {"group_0": group},
        "ignore": list(ignore),
    }


def fp8(ignored: Sequence[str] = ()) -> dict[str, Any]:
    """A block fp8 quantization config."""
    return {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
        "modules_to_not_convert": list(ignored),
    }


def config(quantization: Mapping[str, Any] | None, arch: str = "Qwen3NextForCausalLM", **more: Any) -> dict[str, Any]:
    """A config.json of a model with four layers and one draft layer."""
    found = {"architectures": [arch], "num_hidden_layers": 4, "num_nextn_predict_layers": 1, **more}
    return found if quantization is None else {**found, "quantization_config": dict(quantization)}


def small_checkpoint(
    folder: Path, states: Mapping[str, str], quantization: Mapping[str, Any] | None = None, **more: Any
) -> qpolicy.Checkpoint:
    """Write and open a checkpoint.

    Args:
        folder: Where to write it.
        states: Each module's name with ``plain``, ``packed``, ``fp8`` or ``norm``.
        quantization: The quantization config.
        more: More of config.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{module}.{tensor}": (dtype, shape)
        for module, state in states.items()
        for tensor, (dtype, shape) in STATES[state].items()
    }
    write_checkpoint(folder, tensors, config(quantization, **more))
    return qpolicy.open_checkpoint(folder)


def bound(text: str, checkpoint: qpolicy.Checkpoint | None, **asker: Any) -> Matcher:
    """Bind a policy, given without its version line."""
    return qpolicy.parse(f"qpolicy 1\n{text}\n", filename="test.qpolicy").bind(checkpoint, **asker)
