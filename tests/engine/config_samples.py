"""A published config for each of SGLang's quantization config classes, with a list that excludes two layers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

LINEAR = "model.layers.0.self_attn.o_proj"
EXPERTS = "model.layers.0.mlp.experts"
EXCLUDED = [LINEAR, EXPERTS]

_INT4 = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 32, "dynamic": False}
_FP4 = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}
_MXFP4 = {
    "weight": _FP4 | {"is_dynamic": False},
    "input_tensors": _FP4 | {"is_dynamic": True},
    "output_tensors": None,
    "bias": None,
}
_GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True, "lm_head": False}
_AWQ = {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"}
_SKIP_GPTQ = {"dynamic": {"-:model.layers.0.self_attn": {}, "-:model.layers.0.mlp": {}}}
_SKIP_AWQ = {"modules_to_not_convert": EXCLUDED}
_SLIM = {f"{LINEAR}.weight": "W8A8_DYNAMIC", f"{EXPERTS}.0.gate_proj.weight": "W8A8_DYNAMIC"}

SAMPLES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # class: module under sglang.srt, the published config without its list, the list
    "Fp8Config": (
        "layers.quantization.fp8",
        {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
        {"modules_to_not_convert": EXCLUDED},
    ),
    "CompressedTensorsConfig": (
        "layers.quantization.compressed_tensors.compressed_tensors",
        {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": _INT4, "input_activations": None}},
        },
        {"ignore": [LINEAR, "re:.*mlp[.]experts[.].*", "lm_head"]},
    ),
    "QuarkConfig": (
        "layers.quantization.quark.quark",
        {
            "quant_method": "quark",
            "export": {"kv_cache_group": []},
            "global_quant_config": _MXFP4,
            "layer_quant_config": {},
            "layer_type_quant_config": {},
        },
        {"exclude": EXCLUDED},
    ),
    "BlockInt8Config": (
        "layers.quantization.blockwise_int8",
        {"quant_method": "blockwise_int8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
        {"ignored_layers": EXCLUDED},
    ),
    "ModelOptFp8Config": (
        "layers.quantization.modelopt_quant",
        {"quant_method": "modelopt", "quant_algo": "FP8"},
        {"ignore": EXCLUDED},
    ),
    "ModelOptFp4Config": (
        "layers.quantization.modelopt_quant",
        {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "auto"},
        {"ignore": EXCLUDED},
    ),
    "ModelOptMixedPrecisionConfig": (
        "layers.quantization.modelopt_quant",
        {
            "quant_method": "modelopt",
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {LINEAR: {"quant_algo": "FP8"}, EXPERTS: {"quant_algo": "NVFP4", "group_size": 16}},
        },
        {"exclude_modules": EXCLUDED},
    ),
    "NvFp4OnlineConfig": (
        "layers.quantization.nvfp4_online",
        {"quant_method": "fp8", "activation_scheme": "dynamic"},
        {"ignored_layers": EXCLUDED},
    ),
    "MiniMaxM3Nvfp4Config": (
        "layers.quantization.minimax_m3_nvfp4",
        {"quant_method": "minimax_m3_nvfp4", "weight_block_size": [1, 32], "group_size": 16},
        {"ignored_layers": EXCLUDED},
    ),
    "W8A8Int8Config": ("layers.quantization.w8a8_int8", {"quant_method": "w8a8_int8"}, {"ignore": EXCLUDED}),
    "W8A8Fp8Config": ("layers.quantization.w8a8_fp8", {"quant_method": "w8a8_fp8"}, {}),
    "W4AFp8Config": (
        "layers.quantization.w4afp8",
        {"quant_method": "w4afp8", "linear_activation_scheme": "dynamic", "moe_activation_scheme": "static"},
        {"ignored_layers": EXCLUDED},
    ),
    "QuarkInt4Fp8Config": ("layers.quantization.quark_int4fp8_moe", {"quant_method": "quark_int4fp8_moe"}, {}),
    "AWQConfig": ("layers.quantization.awq.awq", _AWQ, _SKIP_AWQ),
    "AWQCPUConfig": ("layers.quantization.awq.awq", _AWQ, _SKIP_AWQ),
    "AWQXPUConfig": ("layers.quantization.awq.awq", _AWQ, _SKIP_AWQ),
    "GPTQConfig": ("layers.quantization.gptq.gptq", _GPTQ, _SKIP_GPTQ),
    "CPUGPTQConfig": ("layers.quantization.gptq.gptq", _GPTQ, {}),
    "GPTQAscendConfig": ("layers.quantization.gptq.gptq", _GPTQ, {}),
    "GPTQXPUConfig": ("layers.quantization.gptq.gptq", _GPTQ, _SKIP_GPTQ),
    "GPTQMarlinConfig": ("layers.quantization.gptq.gptq", _GPTQ, _SKIP_GPTQ),
    "AutoRoundConfig": (
        "layers.quantization.auto_round",
        {
            "quant_method": "auto-round",
            "bits": 4,
            "group_size": 32,
            "sym": True,
            "packing_format": "auto_round:auto_gptq",
        },
        {"extra_config": {name: {"bits": 16} for name in EXCLUDED}},
    ),
    "BitsAndBytesConfig": (
        "layers.quantization.bitsandbytes",
        {"quant_method": "bitsandbytes", "load_in_4bit": True},
        {"llm_int8_skip_modules": EXCLUDED},
    ),
    "GGUFConfig": ("layers.quantization.gguf", {"quant_method": "gguf"}, {}),
    "Mxfp4Config": ("layers.quantization.mxfp4", {"quant_method": "mxfp4"}, {}),
    "Mxfp4W4A4Config": ("layers.quantization.npu_mxfp4_w4a4", {"quant_method": "mxfp4"}, {"ignored_layers": EXCLUDED}),
    "Mxfp4W4A8Config": ("layers.quantization.npu_mxfp4", {"quant_method": "mxfp_w4a8"}, {"ignored_layers": EXCLUDED}),
    "PetitNvFp4Config": (
        "layers.quantization.petit",
        {"quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "auto"}},
        {},
    ),
    "ModelSlimConfig": ("layers.quantization.modelslim.modelslim", _SLIM, {}),
    "InklingModelOptNvfp4Config": (
        "models.inkling_common.quantization.config",
        {"quantization": {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "auto"}},
        {},
    ),
}
NESTED = ("PetitNvFp4Config", "InklingModelOptNvfp4Config")

NOT_ON_A_CPU = {
    "AWQMarlinConfig": "asks for the GPU's kernels",
    "MoeWNA16Config": "asks for the GPU's capability",
    "HummingConfig": "needs the humming package",
    "HummingLayerQuantizationConfig": "needs the humming package",
    "MlxQuantizationConfig": "needs Apple's MLX",
    "ExpertPackConfig": "needs a store of experts",
    "ModelOptQuantConfig": "abstract",
    "_ModelOptFp4OnlineConfig": "made by for_online_weight_quantization alone",
}
MADE_OF_OTHERS = "HybridFp8NvFp4Config"


def make(name: str, *, excluding: bool = True) -> Any:
    """Construct a class's sample; raises whatever its constructor raises without a GPU."""
    from importlib import import_module

    if name == MADE_OF_OTHERS:
        module = import_module("sglang.srt.layers.quantization.modelopt_quant")
        inner = make("ModelOptFp4Config", excluding=False)
        return module.HybridFp8NvFp4Config(fp8_config=make("Fp8Config", excluding=excluding), nvfp4_config=inner)
    module_name, published, listed = SAMPLES[name]
    found: Callable[[Any], Any] = getattr(import_module(f"sglang.srt.{module_name}"), name).from_config
    config = copy.deepcopy(published | listed if excluding else published)
    config["packed_modules_mapping"] = {}  # the loader always adds it
    if name in NESTED:
        config["quantization"]["exclude_modules"] = EXCLUDED if excluding else []
    return found(config)


def published(name: str) -> dict[str, Any]:
    """Return what a checkpoint's config.json would hold for a class."""
    if name == MADE_OF_OTHERS:
        return published("Fp8Config")
    return copy.deepcopy(SAMPLES[name][1] | SAMPLES[name][2])
