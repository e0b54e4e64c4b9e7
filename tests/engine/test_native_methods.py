"""SGLang's classes for AWQ, bitsandbytes, MXFP4, Humming and its own methods agree with our readings."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from native_cases import Pair
from native_classes import REFUSED, UNQUANTIZED, Comparison, Config, compare, label, mixed_entries, without_experts

pytestmark = pytest.mark.engine

QUANTIZATION = "sglang.srt.layers.quantization"
ROW_ONE = ("shards", "own", "gate-and-up", "expert-in-entry")


def _awq(random: Random, pair: Pair, key: str = "modules_to_not_convert") -> Config:
    config: Config = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
    if random.random() < 0.1:
        config.pop(random.choice(("bits", "group_size", "zero_point")))
    if random.random() < 0.9:
        config[key] = None if random.random() < 0.1 else [_part(random, entry) for entry in pair.entries]
    return config


def _part(random: Random, entry: str) -> str:
    """Cut an entry as lists of substrings are written."""
    start = random.randint(0, len(entry))
    return entry if random.random() < 0.5 else entry[start : start + random.randint(3, 20)] or "gate"


@pytest.fixture
def awq(engine: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = engine(f"{QUANTIZATION}.awq.awq")
    label(monkeypatch, module, {"AWQLinearMethod": "awq", "AWQMoEMethod": "awq"})
    for name in ("AWQConfig", "AWQCPUConfig", "AWQMarlinConfig"):
        monkeypatch.setattr(getattr(module, name), "get_linear_scheme", lambda self, layer: None)
    for name in ("AWQConfig", "AWQCPUConfig", "AWQMarlinConfig"):
        monkeypatch.setattr(getattr(module, name), "get_moe_scheme", lambda self, layer: None)
    return module


def test_plain_awq(engine: Any, awq: Any) -> None:
    def draw(random: Random, pair: Pair) -> Config:
        return {**_awq(random, pair), "bits": random.choice((4, 4, 4, 8)), "zero_point": False}

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("awq", awq.AWQConfig.from_config, draw, kinds))
    tally.check("awq", "own", "substring", *kinds, REFUSED, UNQUANTIZED, "quantized", "mapped")


@pytest.mark.parametrize(("engine_name", "built"), [("sglang-cpu", "AWQCPUConfig"), ("sglang-xpu", "AWQXPUConfig")])
def test_awq_on_other_devices(engine: Any, awq: Any, engine_name: str, built: str) -> None:
    build = getattr(awq, built).from_config
    tally = compare(engine, Comparison(built, build, _awq, ("linear", "moe", "lm_head"), engine=engine_name))
    tally.check(built, "own", "substring", "moe", REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_awq_by_marlin(engine: Any, awq: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("check_marlin_supports_layer", "check_moe_marlin_supports_layer"):
        monkeypatch.setattr(awq, name, lambda *args: True)
    monkeypatch.setattr(awq, "verify_marlin_supported", lambda *args, **kwargs: None)

    def draw(random: Random, pair: Pair) -> Config:
        return {**_awq(random, pair), "quant_method": "awq_marlin", "lm_head": random.random() < 0.5}

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("awq_marlin", awq.AWQMarlinConfig.from_config, draw, kinds))
    tally.check("awq_marlin", "own", "substring", *kinds, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_which_awq_checkpoints_marlin_takes(engine: Any, awq: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from qpolicy.native import read_config

    utils = engine(f"{QUANTIZATION}.marlin_utils")
    monkeypatch.setattr(awq, "_is_cuda", True)
    monkeypatch.setattr(utils, "get_device_capability", lambda *args: (9, 0))
    scalar = engine(f"{QUANTIZATION}.utils").get_scalar_types()[1]
    kinds = {4: scalar.uint4, 8: scalar.uint8}
    seen = set()
    for bits in (4, 8, 3, None):
        for group in (-1, 32, 64, 128, 16, None):
            for zero in (True, False, None):
                config = {"quant_method": "awq", "bits": bits, "group_size": group, "zero_point": zero}
                # The package of kernels, which names the types, is not there without a GPU: its names are compared.
                with monkeypatch.context() as patch:
                    patch.setattr(awq.AWQMarlinConfig, "TYPE_MAP", kinds)
                    patch.setattr(
                        utils,
                        "scalar_types",
                        SimpleNamespace(uint4=kinds[4], uint4b8=1, uint8b128=2, float8_e4m3fn=3, float4_e2m1f=4),
                    )
                    real = bool(awq.AWQMarlinConfig.is_awq_marlin_compatible(config))
                ours = read_config({key: value for key, value in config.items() if value is not None}).variant
                assert (ours == "marlin") == real, config
                seen.add(real)
    assert seen == {True, False}


def test_awq_by_moe_wna16(engine: Any, awq: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine(f"{QUANTIZATION}.moe_wna16")
    label(monkeypatch, module, {"MoeWNA16Method": "moe_wna16"})
    without_experts(monkeypatch, engine, module)
    monkeypatch.setattr(module, "get_device_capability", lambda *args: (9, 0))
    build = module.MoeWNA16Config.from_config
    tally = compare(engine, Comparison("moe_wna16", build, _awq, ("linear", "moe"), engine="sglang-moe_wna16"))
    tally.check("moe_wna16", "own", "substring", "moe", REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_bitsandbytes(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine(f"{QUANTIZATION}.bitsandbytes")
    label(monkeypatch, module, {"BitsAndBytesLinearMethod": "bnb", "BitsAndBytesMoEMethod": "bnb"})

    def draw(random: Random, pair: Pair) -> Config:
        parts = pair.name.split(".")
        near = [random.choice(parts), ".".join(parts[: random.randint(1, len(parts))])]
        config: Config = {
            "quant_method": "bitsandbytes",
            "bnb_4bit_quant_storage": random.choice(("uint8", "uint8", None)),
        }
        if random.random() < 0.05:
            config["bnb_4bit_quant_storage"] = "bfloat16"
        if random.random() < 0.9:
            entries = [*pair.entries, *random.sample(near, random.randint(0, 1))]
            config["llm_int8_skip_modules"] = None if random.random() < 0.1 else entries
        return config

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("bitsandbytes", module.BitsAndBytesConfig.from_config, draw, kinds))
    tally.check("bitsandbytes", "own", "equality", *kinds, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_blockwise_int8(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine(f"{QUANTIZATION}.blockwise_int8")

    def method(config: Any) -> Any:
        # As the class of linear layers asserts when it is built.
        assert config.weight_block_size is not None
        return fixed

    label(monkeypatch, module, {"BlockInt8MoEMethod": "int8", "BlockInt8LinearMethod": "int8"})
    fixed = module.BlockInt8LinearMethod()
    monkeypatch.setattr(module, "BlockInt8LinearMethod", method)
    monkeypatch.setattr(module, "BlockInt8MoEMethod", method)

    def draw(random: Random, pair: Pair) -> Config:
        config: Config = {
            "quant_method": "blockwise_int8",
            "activation_scheme": "dynamic",
            "weight_block_size": [128, 128],
        }
        if random.random() < 0.05:
            del config["activation_scheme"]
        key = random.choice(("ignored_layers", "ignored_layers", "ignored_layers", "modules_to_not_convert"))
        return config | {key: list(pair.entries)}

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("blockwise_int8", module.BlockInt8Config.from_config, draw, kinds))
    tally.check("blockwise_int8", *ROW_ONE, *kinds, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_w8a8_int8(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine(f"{QUANTIZATION}.w8a8_int8")
    label(monkeypatch, module, {"W8A8Int8LinearMethod": "int8", "W8A8Int8MoEMethod": "int8"})

    def draw(random: Random, pair: Pair) -> Config:
        config: Config = {"quant_method": "w8a8_int8"}
        return config | {"ignore": None if random.random() < 0.05 else list(pair.entries)}

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("w8a8_int8", module.W8A8Int8Config.from_config, draw, kinds))
    wanted = ("own", "shards", "own-if-listed", "dotted-suffix", "regex", *kinds)
    tally.check("w8a8_int8", *wanted, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_humming(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine(f"{QUANTIZATION}.humming")
    monkeypatch.setattr(module, "_lazy_import_humming", lambda: None)
    label(monkeypatch, module, {"HummingLinearMethod": "humming", "HummingMoEMethod": "humming"})
    without_experts(monkeypatch, engine, module)

    # What Humming's own package would make of the settings, which is not installed, is left out.
    def schema(self: Any, config: Any, prefix: str) -> Any:
        return None if self.is_layer_skipped(config, prefix) else object()

    monkeypatch.setattr(module.HummingConfig, "get_layer_weight_schema", schema)
    monkeypatch.setattr(module.HummingConfig, "get_layer_input_schema", schema)
    monkeypatch.setattr(module, "HummingLayerQuantizationConfig", lambda **settings: settings)

    def draw(random: Random, pair: Pair) -> Config:
        config: Config = {"quant_method": "humming"}
        keys = random.sample(("ignored_layers", "ignore", "modules_to_not_convert"), random.randint(0, 2))
        config |= {key: None if random.random() < 0.1 else [_part(random, one) for one in pair.entries] for key in keys}
        if random.random() < 0.4:
            signs = ("-:", "-:", "+:", "-", "")
            config["dynamic"] = {
                random.choice(signs) + one.removeprefix("re:"): {} for one in mixed_entries(random, pair)
            }
        return config

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("humming", module.HummingConfig.from_config, draw, kinds))
    tally.check("humming", "own", "substring", "other-regex", *kinds, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_mxfp4(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine(f"{QUANTIZATION}.mxfp4")
    label(monkeypatch, module, {"Mxfp4MoEMethod": "mxfp4", "Mxfp4DynamicQuantMoEMethod": "mxfp4"})
    _never_read(engine, "mxfp4", module.Mxfp4Config.from_config, ("linear", "moe"))


def test_methods_without_a_list(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fp8 = {"Fp8LinearMethod": "fp8"}
    modules = {
        "w8a8_fp8": ("W8A8Fp8Config", {"W8A8Fp8LinearMethod": "fp8", "W8A8FP8MoEMethod": "fp8"}),
        "w4afp8": ("W4AFp8Config", {**fp8, "W4AFp8MoEMethod": "w4afp8"}),
        "quark_int4fp8_moe": ("QuarkInt4Fp8Config", {**fp8, "QuarkInt4Fp8MoEMethod": "int4"}),
        "gguf": ("GGUFConfig", {"GGUFLinearMethod": "g", "GGUFMoEMethod": "g", "GGUFEmbeddingMethod": "g"}),
    }
    for name, (built, methods) in modules.items():
        module = engine(f"{QUANTIZATION}.{name}")
        label(monkeypatch, module, methods)
        found = getattr(module, built)
        build = found.from_config
        if name == "quark_int4fp8_moe":
            build = lambda config, found=found: found.__new__(found)  # noqa: E731 - the constructor wants a process group
        if name == "gguf":
            # sglang/srt/model_loader/weight_utils.py: get_quant_config hands it an empty config, whatever is published.
            build = lambda config, found=found: found.from_config({})  # noqa: E731
        kinds = ("linear", "moe", "lm_head", "embedding")
        _never_read(engine, name, build, kinds)


def _never_read(engine: Any, name: str, build: Any, kinds: tuple[str, ...]) -> None:
    def draw(random: Random, pair: Pair) -> Config:
        keys = ("ignore", "ignored_layers", "modules_to_not_convert")
        return {"quant_method": name, random.choice(keys): list(pair.entries), "activation_scheme": "dynamic"}

    tally = compare(engine, Comparison(name, build, draw, kinds))
    assert tally.counts["matched"] == 0
    assert set(kinds) <= set(tally.counts)
    assert tally.counts["quantized"] > 0
