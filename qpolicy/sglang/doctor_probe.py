"""Asks real layers under a small real checkpoint and policy, on the CPU, through the attached hooks."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qpolicy.sglang.building import Asked, building
from qpolicy.sglang.doctor_check import Check, told
from qpolicy.sglang.own_class import bare_copy

RULED, UNRULED, BARE = "model.layers.0.mlp.down_proj", "model.layers.0.self_attn.o_proj", "model.layers.0.mlp.gate"
"""A layer that the policy makes unquantized, one that it leaves to the list, one that is built without a config."""

_SIZE = 128
_SQUARE = (_SIZE, _SIZE)
_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_size": _SIZE,
    "intermediate_size": _SIZE,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 64,
    "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [*_SQUARE]},
}
_TENSORS = (
    (f"{RULED}.weight", "BF16", _SQUARE, 2),
    (f"{BARE}.weight", "BF16", _SQUARE, 2),
    (f"{UNRULED}.weight", "F8_E4M3", _SQUARE, 1),
    (f"{UNRULED}.weight_scale_inv", "F32", (1, 1), 4),
)
_POLICY = f"qpolicy 1\n{RULED}: unquantized\n{BARE}: unquantized\n"
_FIX = "run `qpolicy sglang rehearse` on your checkpoint to see what its layers are given, and report this"


def probe() -> Iterator[Check]:
    """Build three layers under a checkpoint in fp8 blocks, and compare what they are given with what it should be."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            write_checkpoint(Path(folder))
            yield from _asked(folder)
        except Exception as error:
            yield Check("probe", "layers", "fail", f"no layer could be built: {told(error)}", _FIX)


def write_checkpoint(folder: Path) -> None:
    """Write the probe's config, policy and tensors."""
    header, end = {}, 0
    for name, dtype, shape, width in _TENSORS:
        start, end = end, end + shape[0] * shape[1] * width
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    (folder / "config.json").write_text(json.dumps(_CONFIG), encoding="utf-8")
    (folder / "probe.qpolicy").write_text(_POLICY, encoding="utf-8")
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(end))


def _asked(folder: str) -> Iterator[Check]:
    from sglang.srt.configs.load_config import LoadConfig  # noqa: PLC0415 - only inside SGLang
    from sglang.srt.configs.model_config import ModelConfig  # noqa: PLC0415
    from sglang.srt.model_loader import loader  # noqa: PLC0415

    from qpolicy.sglang import sessions  # noqa: PLC0415

    model, load = ModelConfig(folder, dtype="bfloat16"), LoadConfig(load_format="safetensors")
    config = loader._get_quantization_config(model, load)
    session = sessions.of(model, load)
    if session is None:
        yield Check("probe", "layers", "fail", "the policy beside the probe's checkpoint was not found", _FIX)
        return
    build = sessions.build(session, model, load, config)
    with building(build):
        for name in (RULED, UNRULED, BARE):
            layer = _layer(None if name == BARE else config, name)
            asked = next((one for one in build.asked if one.name == name), None)
            yield _judged(name, type(layer.quant_method).__name__, _alone(config, layer, name), asked)


def _layer(config: Any, name: str) -> Any:
    import torch  # noqa: PLC0415
    from sglang.srt.layers.linear import ReplicatedLinear  # noqa: PLC0415

    with torch.device("cpu"):
        return ReplicatedLinear(_SIZE, _SIZE, bias=False, params_dtype=torch.bfloat16, quant_config=config, prefix=name)


def _alone(config: Any, layer: Any, name: str) -> str:
    """Return the class of the method that SGLang's own config answers, asked without the plugin."""
    bare = bare_copy(config)
    return type(type(bare).get_quant_method(bare, layer, name)).__name__


def _judged(name: str, method: str, alone: str, asked: Asked | None) -> Check:
    from qpolicy.sglang import compat  # noqa: PLC0415 - imports torch

    if asked is None or asked.decision is None:
        return _wrong(name, f"it is built with {method}, and nobody asked the policy about it")
    rule = asked.decision.rule
    expected = alone if name == UNRULED else type(compat.plain_method("linear")).__name__
    if method != expected or (rule is None) != (name == UNRULED):
        by = "no rule" if rule is None else f"{Path(rule.file).name}:{rule.line}"
        return _wrong(name, f"it is given {method} by {by}; expected {expected}")
    if rule is None:
        return Check("probe", name, "ok", f"{method} as SGLang alone gives, because no rule names it")
    without = "although the model passes no config" if name == BARE else f"where SGLang alone gives {alone}"
    return Check("probe", name, "ok", f"{method} by the rule {Path(rule.file).name}:{rule.line}, {without}")


def _wrong(name: str, message: str) -> Check:
    return Check("probe", name, "fail", message, _FIX)
