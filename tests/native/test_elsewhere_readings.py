"""How engines that cannot be installed here read the lists: cases of our own, each from the source its record cites."""

from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import Reading, engine_reading, read_config

PACKED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
LAYER = "model.layers.7."
BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "fp8": ("modules_to_not_convert", {"quant_method": "fp8"}),
    "compressed-tensors": ("ignore", {"quant_method": "compressed-tensors"}),
    "quark": ("exclude", {"quant_method": "quark"}),
    "modelopt": ("ignore", {"quant_method": "modelopt", "quant_algo": "NVFP4"}),
    "awq": ("modules_to_not_convert", {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}),
    "bitsandbytes": ("llm_int8_skip_modules", {"quant_method": "bitsandbytes"}),
    "torchao": ("modules_to_not_convert", {"quant_method": "torchao", "quant_type": "int4_weight_only"}),
}


def _read(dialect: str, engine: str, entries: list[str], **more: Any) -> Reading:
    key, base = BASES[dialect]
    return engine_reading(read_config({**base, key: entries, **more}), engine, PACKED)


def _verdict(reading: Reading, name: str) -> str:
    kind = "moe" if name.endswith(".experts") else "lm_head" if name.endswith("lm_head") else "linear"
    listed = reading.listed(name, kind)
    assert set(listed.entries) <= set(reading.matching(name, kind))
    return "refused" if listed.error else "excluded" if listed.excluded else "kept"


@pytest.mark.parametrize(
    ("dialect", "engine", "entry", "name", "verdict"),
    [
        ("fp8", "vllm", LAYER + "mlp.down_proj", LAYER + "mlp.down_proj", "excluded"),
        ("fp8", "vllm", LAYER + "mlp", LAYER + "mlp.down_proj", "kept"),
        ("fp8", "vllm", LAYER + "mlp.up_proj", LAYER + "mlp.gate_up_proj", "refused"),
        ("fp8", "vllm", LAYER + "mlp.experts.0.up_proj", LAYER + "mlp.experts", "excluded"),
        ("fp8", "vllm", LAYER + "mlp.shared_experts.down_proj.x", LAYER + "mlp.shared_experts.down_proj", "excluded"),
        ("compressed-tensors", "vllm", "mlp.gate", LAYER + "mlp.gate", "kept"),
        ("compressed-tensors", "vllm", "re:.*gate$", LAYER + "mlp.gate", "excluded"),
        ("compressed-tensors", "vllm", "re:.*q_proj", LAYER + "self_attn.qkv_proj", "refused"),
        ("compressed-tensors", "vllm", LAYER + "self_attn.qkv_proj", LAYER + "self_attn.qkv_proj", "excluded"),
        ("quark", "vllm 0a6c8da2", "re:.*qkv_proj$", LAYER + "self_attn.qkv_proj", "kept"),
        ("quark", "vllm", "re:.*qkv_proj$", LAYER + "self_attn.qkv_proj", "excluded"),
        ("quark", "vllm 0a6c8da2", LAYER + "mlp.experts.5.up_proj", LAYER + "mlp.experts", "kept"),
        ("quark", "vllm", LAYER + "mlp.experts.5.up_proj", LAYER + "mlp.experts", "excluded"),
        ("quark", "vllm", LAYER + "mlp.experts_x", LAYER + "mlp.experts", "kept"),
        ("quark", "vllm", "*.lm_head", "model.lm_head", "kept"),
        ("modelopt", "vllm", LAYER + "mlp.gate", LAYER + "mlp.gate_up_proj", "excluded"),
        ("modelopt", "vllm", "model.layers.?.mlp*", LAYER + "mlp.down_proj", "excluded"),
        ("modelopt", "vllm", "nothing", "model.visual.blocks.0.mlp.fc1", "excluded"),
        ("modelopt", "vllm", LAYER + "self_attn.q_proj", LAYER + "self_attn.qkv_proj", "refused"),
        ("modelopt", "tensorrt-llm 1.0", LAYER + "mlp", LAYER + "mlp.down_proj", "kept"),
        ("modelopt", "tensorrt-llm", LAYER + "mlp", LAYER + "mlp.down_proj", "excluded"),
        ("modelopt", "tensorrt-llm", "*.mlp.*", LAYER + "mlp", "excluded"),
        ("modelopt", "tensorrt-llm 1.0", "*.mlp.*", LAYER + "mlp", "kept"),
        ("modelopt", "tensorrt-llm", r"re:.*layers\.7", LAYER + "mlp.down_proj", "excluded"),
        ("modelopt", "tensorrt-llm", "re:.*layers", LAYER + "mlp.down_proj", "excluded"),
        ("modelopt", "tensorrt-llm", "re:.*laye", LAYER + "mlp.down_proj", "kept"),
        ("modelopt", "tensorrt-llm 1.0", r"re:.*layers\.7", LAYER + "mlp.down_proj", "kept"),
        ("modelopt", "tensorrt-llm", LAYER + "self_attn.q_proj", LAYER + "self_attn.qkv_proj", "excluded"),
        ("fp8", "tensorrt-llm", "x", LAYER + "self_attn.kv_b_proj", "excluded"),
        ("awq", "vllm", "layers.7", "model.layers.77.mlp.down_proj", "excluded"),
        ("awq", "vllm", "self_attn.q_proj", LAYER + "self_attn.qkv_proj", "refused"),
        ("awq", "vllm", "gate_up_proj", LAYER + "mlp.gate_up_proj", "kept"),
        ("awq", "vllm", "xpert", LAYER + "mlp.experts", "excluded"),
        ("awq", "transformers 4.57.6", "mlp.gate", LAYER + "mlp.gate_proj", "excluded"),
        ("fp8", "transformers 4.57.6", "ate", LAYER + "mlp.gate", "excluded"),
        ("fp8", "transformers 4.57.6", "*.gate", LAYER + "mlp.gate", "kept"),
        ("bitsandbytes", "vllm", "mlp", LAYER + "mlp.down_proj", "excluded"),
        ("bitsandbytes", "vllm", "layers.7", LAYER + "mlp.down_proj", "kept"),
        ("bitsandbytes", "vllm", "model.layers.7", LAYER + "mlp.down_proj", "excluded"),
        ("bitsandbytes", "transformers 4.57.6", "down_proj", LAYER + "mlp.down_proj", "excluded"),
        ("bitsandbytes", "transformers 4.57.6", "ayers.7", LAYER + "mlp.down_proj", "excluded"),
        ("bitsandbytes", "transformers 4.57.6", "mlp.down", LAYER + "mlp.down_proj", "kept"),
        ("torchao", "vllm", "layers.7", LAYER + "mlp.down_proj", "excluded"),
        ("torchao", "vllm", "layers.7.", LAYER + "mlp.down_proj", "kept"),
        ("torchao", "vllm", "ayers.7", LAYER + "mlp.down_proj", "kept"),
        ("torchao", "transformers 4.57.6", "down_proj", LAYER + "mlp.down_proj", "excluded"),
        ("torchao", "transformers 4.57.6", "down", LAYER + "mlp.down_proj", "kept"),
    ],
)
def test_what_an_entry_excludes(dialect: str, engine: str, entry: str, name: str, verdict: str) -> None:
    assert _verdict(_read(dialect, engine, [entry]), name) == verdict


@pytest.mark.parametrize(("engine", "verdict"), [("vllm 0a6c8da2", "excluded"), ("vllm", "refused")])
def test_who_stumbles_over_an_entry_behind_the_one_that_fits(engine: str, verdict: str) -> None:
    assert _verdict(_read("quark", engine, ["lm_head", "re:("]), "lm_head") == verdict


def test_an_ancestor_that_fits_saves_no_one_from_a_broken_expression() -> None:
    reading = _read("modelopt", "tensorrt-llm", [LAYER + "mlp", "re:("])
    assert _verdict(reading, LAYER + "mlp") == "excluded"
    assert _verdict(reading, LAYER + "mlp.down_proj") == "refused"


def test_quarks_keys_in_vllm() -> None:
    layers = {LAYER + "mlp.experts.0.down_proj": {"weight": {"bits": 4}}, "*q_proj": {"weight": {"bits": 8}}}
    more = {"layer_quant_config": layers, "global_quant_config": {"weight": {"bits": 2}}, "export": {}}
    reading = _read("quark", "vllm", [], **more)
    assert reading.ask(LAYER + "mlp.experts", "moe").scheme == LAYER + "mlp.experts.0.down_proj"
    assert reading.ask(LAYER + "self_attn.qkv_proj", "linear").outcome == "error"
    assert reading.ask("down_proj", "linear").scheme == LAYER + "mlp.experts.0.down_proj"
    assert reading.ask("model.layers.9.mlp.down_proj", "linear").scheme == "global"


def test_experts_of_bitsandbytes_and_mxfp4_are_never_left_alone_by_vllm() -> None:
    assert _read("bitsandbytes", "vllm", ["experts"]).ask(LAYER + "mlp.experts", "moe").outcome == "quantized"
    config = read_config({"quant_method": "mxfp4", "modules_to_not_convert": ["model"]})
    assert engine_reading(config, "vllm").ask(LAYER + "mlp.experts", "moe").outcome == "quantized"
    assert engine_reading(config, "vllm").ask(LAYER + "mlp.router", "linear").outcome == "unquantized"


@pytest.mark.parametrize(
    ("method", "engine"),
    [
        ("modelslim", "vllm"),
        ("modelopt_mixed", "vllm"),
        ("modelopt_mixed", "tensorrt-llm"),
        ("gptq", "tensorrt-llm"),
        ("exl3", "vllm"),
        ("torchao", "sglang"),
    ],
)
def test_what_nobody_wrote_down_is_not_known(method: str, engine: str) -> None:
    reading = engine_reading(read_config({"quant_method": method}), engine, PACKED)
    assert not reading.supported
    assert reading.ask("lm_head", "lm_head").outcome is None
