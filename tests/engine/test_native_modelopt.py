"""SGLang's ModelOpt classes and our readings choose the same scheme for every layer, or refuse the same configs."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, Pair, draw_entry, draw_name, draw_pair
from native_classes import REFUSED, UNQUANTIZED, Comparison, Config, compare, label, mixed_entries, without_experts

from qpolicy.native import Mapper, engine_reading, read_config

pytestmark = pytest.mark.engine

MODULE = "sglang.srt.layers.quantization.modelopt_quant"
METHODS = {
    "ModelOptFp8LinearMethod": "FP8",
    "ModelOptFp8MoEMethod": "FP8",
    "ModelOptFp4LinearMethod": "NVFP4",
    "ModelOptNvFp4A16LinearMethod": "NVFP4",
    "ModelOptNvFp4FusedMoEMethod": "NVFP4",
    "ModelOptNvFp4EmbeddingMethod": "NVFP4",
    "Fp8LinearMethod": "FP8",
    "Fp8MoEMethod": "FP8",
}
LISTS = ("shards", "own", "gate-and-up", "expert-in-entry", "own-by-pattern")
OPERATORS = ("segment-run", "wildcard", "wildcard-segment", "tail")
ALL = ("linear", "moe", "lm_head")


def _config(random: Random, pair: Pair, algorithm: str, keys: tuple[str, ...]) -> Config:
    """Draw a config as it stands in config.json, or the section of hf_quant_config.json as its reader gets it."""
    config: Config = {"quant_method": "modelopt", "quant_algo": algorithm, "kv_cache_quant_algo": None}
    return {**config, **{key: mixed_entries(random, pair) for key in random.sample(keys, random.randint(1, len(keys)))}}


@pytest.fixture
def modelopt(engine: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = engine(MODULE)
    label(monkeypatch, module, METHODS)
    return module


def test_fp8(engine: Any, modelopt: Any) -> None:
    def draw(random: Random, pair: Pair) -> Config:
        config = _config(random, pair, "FP8", ("ignore", "exclude_modules", "modules_to_not_convert"))
        if random.random() < 0.1:
            config["ignore"] = None
        return config

    tally = compare(engine, Comparison("modelopt fp8", modelopt.ModelOptFp8Config.from_config, draw, ALL))
    tally.check("modelopt fp8", *LISTS, *OPERATORS, *ALL, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_fp8_in_a_file_of_its_own(engine: Any, modelopt: Any) -> None:
    def build(config: Config) -> Any:
        return modelopt.ModelOptFp8Config.from_config(config)

    def draw(random: Random, pair: Pair) -> Config:
        config = _config(random, pair, "FP8", ("exclude_modules", "ignore"))
        del config["quant_method"]
        return {"producer": {"name": "modelopt"}, "quantization": config}

    tally = compare(engine, Comparison("modelopt fp8 section", build, draw, ALL))
    tally.check("modelopt fp8 section", *LISTS, *OPERATORS, *ALL, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_nvfp4(engine: Any, modelopt: Any) -> None:
    def draw(random: Random, pair: Pair) -> Config:
        algorithm = random.choice(("NVFP4", "NVFP4", "NVFP4_AWQ", "W4A16_NVFP4", "W4A8_NVFP4"))
        config = _config(random, pair, algorithm, ("ignore", "exclude_modules", "modules_to_not_convert"))
        if random.random() < 0.1:
            config[random.choice(("ignore", "modules_to_not_convert"))] = None
        return config

    tally = compare(engine, Comparison("modelopt nvfp4", modelopt.ModelOptFp4Config.from_config, draw, ALL))
    tally.check("modelopt nvfp4", *LISTS, *OPERATORS, *ALL, REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_nvfp4_in_a_file_of_its_own(engine: Any, modelopt: Any) -> None:
    def draw(random: Random, pair: Pair) -> Config:
        config = _config(random, pair, "NVFP4", ("exclude_modules", "ignore"))
        del config["quant_method"]
        config |= {} if random.random() < 0.1 else {"group_size": 16}
        config |= (
            {"config_groups": {"a": {"weights": {"group_size": random.choice((16, 32))}}}}
            if random.random() < 0.1
            else {}
        )
        return {"quantization": config}

    # Only the section is given to us, and so to SGLang, which would take sizes from the whole file as well.
    def build(config: Config) -> Any:
        whole = {
            **config,
            **{key: config["quantization"][key] for key in ("config_groups",) if key in config["quantization"]},
        }
        return modelopt.ModelOptFp4Config.from_config(whole)

    tally = compare(engine, Comparison("modelopt nvfp4 section", build, draw, ALL))
    tally.check("modelopt nvfp4 section", *LISTS, *OPERATORS, *ALL, REFUSED, UNQUANTIZED, "quantized", "mapped")


def _layers(random: Random, pair: Pair) -> dict[str, Any]:
    """Draw a positive map with the name, its shards, something below it, or neighbours."""
    algorithms = ("FP8", "NVFP4", "nvfp4", "W4A16_NVFP4", "MXFP8", "FP8_PB_WO", "INT4_AWQ")
    names = [random.choice(_spelt(pair.name))] if random.random() < 0.5 else []
    leaf = pair.name.rpartition(".")[2]
    if leaf in pair.packed:
        parent = random.choice(_spelt(pair.name.rpartition(".")[0]))
        names += [f"{parent}.{shard}" for shard in pair.packed[leaf] if random.random() < 0.8]
    if random.random() < 0.4:
        names += [f"{random.choice(_spelt(pair.name))}.{expert}.up_proj" for expert in (3, 0)]
    names += [draw_entry(random, draw_name(random)[0]) for _ in range(random.randint(0, 2))]
    random.shuffle(names)
    one = random.choice(algorithms)
    layers: dict[str, Any] = {"always": {"quant_algo": "NVFP4", "group_size": 16}}
    layers |= {name: {"quant_algo": one if random.random() < 0.8 else random.choice(algorithms)} for name in names}
    if random.random() < 0.05:
        layers[pair.name] = {"awq_block_size": 128}
    return layers


def _spelt(name: str) -> tuple[str, ...]:
    bare = name.removeprefix("language_model.").removeprefix("model.").removeprefix("language_model.")
    return (name, f"model.{bare}", f"model.language_model.{bare}", f"language_model.model.{bare}", bare)


def _scheme(name: str) -> str:
    return {"ModelOptNvFp4A16LinearMethod": "W4A16_NVFP4", "Fp8LinearMethod": "FP8 or MXFP8"}.get(name, METHODS[name])


@pytest.mark.parametrize("section", [False, True], ids=["flat", "section"])
def test_mixed(engine: Any, modelopt: Any, monkeypatch: pytest.MonkeyPatch, section: bool) -> None:
    def draw(random: Random, pair: Pair) -> Config:
        config = _config(random, pair, "MIXED_PRECISION", ("ignore", "exclude_modules"))
        if random.random() < 0.1:
            config["ignore"] = None
        config["quantized_layers"] = _layers(random, pair)
        if not section:
            return config
        del config["quant_method"]
        return {"quantization": config}

    build, kinds = modelopt.ModelOptMixedPrecisionConfig.from_config, (*ALL, "embedding")
    tally = compare(engine, Comparison(f"modelopt mixed {section}", build, draw, kinds))
    tally.check(f"modelopt mixed {section}", *LISTS, *OPERATORS, *kinds, REFUSED, UNQUANTIZED, "quantized", "mapped")


@pytest.mark.parametrize("key", ["keep", "differ"])
def test_the_schemes_of_a_mixed_checkpoint(engine: Any, modelopt: Any, key: str) -> None:
    """Compare SGLang's own look-up of the algorithm, and not only whether it finds one."""
    random, seen = Random(f"mixed schemes {key}"), Counter[str]()
    for _ in range(PAIRS):
        pair = draw_pair(random)
        config = _config(random, pair, "MIXED_PRECISION", ("ignore",)) | {"quantized_layers": _layers(random, pair)}
        built = modelopt.ModelOptMixedPrecisionConfig.from_config({**config, "packed_modules_mapping": pair.packed})
        if pair.mapper is not None:
            keys = {f"orig_to_new_{kind}": dict(value) for kind, value in pair.mapper.items()}
            built.apply_weight_name_mapper(engine("sglang.srt.models.utils").WeightsMapper(**keys))
        try:
            real = built.resolve_quant_algo(pair.name) or UNQUANTIZED
        except (ValueError, KeyError):
            real = REFUSED
        mapper = None if pair.mapper is None else Mapper(**pair.mapper)
        answer = engine_reading(read_config(config), "sglang", pair.packed, mapper).ask(
            pair.name, pair.kind, exclusions=False
        )
        found = REFUSED if answer.outcome == "error" else str(answer.scheme or UNQUANTIZED)
        assert found == ("unquantized" if real == "INT4_AWQ" else real), (pair, config, answer)
        seen[found] += 1
    assert min(seen[one] for one in ("FP8", "NVFP4", "W4A16_NVFP4", "MXFP8", UNQUANTIZED, REFUSED)) > 5


def test_experts_of_another_scheme(engine: Any, modelopt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fp8 = engine("sglang.srt.layers.quantization.fp8")
    label(monkeypatch, fp8, {"Fp8LinearMethod": "fp8-nvfp4", "Fp8MoEMethod": "fp8-nvfp4"})
    without_experts(monkeypatch, engine, fp8)

    def build(config: Config) -> Any:
        built = fp8.Fp8Config.from_config(config)
        built.is_fp4_experts = False
        # As sglang/srt/model_loader/loader.py: _get_quantization_config puts the two together.
        experts = modelopt.ModelOptFp4Config(
            is_checkpoint_nvfp4_serialized=True,
            group_size=16,
            exclude_modules=[*(config.get("ignore") or []), "model.decoder.*", "stages.*"],
            packed_modules_mapping=built.packed_modules_mapping,
        )
        return modelopt.HybridFp8NvFp4Config(fp8_config=built, nvfp4_config=experts)

    def draw(random: Random, pair: Pair) -> Config:
        config: Config = {"quant_method": "fp8", "activation_scheme": "dynamic", "quant_algo": "MIXED_PRECISION"}
        config |= {"moe_quant_algo": "NVFP4", "group_size": 16, "ignore": mixed_entries(random, pair)}
        key = random.choice(("ignored_layers", "modules_to_not_convert"))
        return config | ({key: list(pair.entries)} if random.random() < 0.7 else {})

    comparison = Comparison("fp8 with nvfp4 experts", build, draw, only_excluded=False)
    tally = compare(engine, comparison)
    tally.check(
        "fp8 with nvfp4 experts", *LISTS[:4], "moe", "linear", REFUSED, UNQUANTIZED, "NVFP4", "fp8-nvfp4", "mapped"
    )


def test_nvfp4_made_while_loading(engine: Any, modelopt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    online, fp8 = engine("sglang.srt.layers.quantization.nvfp4_online"), engine("sglang.srt.layers.quantization.fp8")
    label(monkeypatch, online, {"ModelOptNvFp4OnlineFusedMoEMethod": "NVFP4"})
    label(monkeypatch, fp8, {"Fp8LinearMethod": "FP8", "Fp8MoEMethod": "FP8"})

    def draw(random: Random, pair: Pair) -> Config:
        config: Config = {"quant_method": "fp8", "activation_scheme": "dynamic", "ignore": mixed_entries(random, pair)}
        keys = ("ignored_layers", "modules_to_not_convert")
        return config | {key: mixed_entries(random, pair) for key in keys if random.random() < 0.5}

    build = online.NvFp4OnlineConfig.from_config
    tally = compare(engine, Comparison("nvfp4_online", build, draw, engine="sglang-nvfp4_online"))
    tally.check("nvfp4_online", *LISTS, *OPERATORS, "moe", REFUSED, UNQUANTIZED, "quantized", "mapped")


def test_petit(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    petit = engine("sglang.srt.layers.quantization.petit")
    label(monkeypatch, petit, {"PetitNvFp4LinearMethod": "NVFP4", "verify_petit_nvfp4_supported": ""})

    def draw(random: Random, pair: Pair) -> Config:
        config = _config(random, pair, "NVFP4", ("exclude_modules",))
        if random.random() < 0.1:
            return config
        del config["quant_method"]
        return {"quantization": config | {"group_size": 16, "exclude_modules": config["exclude_modules"]}}

    build = petit.PetitNvFp4Config.from_config
    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("petit", build, draw, kinds, engine="sglang-petit_nvfp4", mapped=False))
    tally.check("petit", *LISTS, "segment-run", "wildcard", *kinds, REFUSED, UNQUANTIZED, "quantized")


def test_what_inkling_models_build_for_themselves(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    inkling = engine("sglang.srt.models.inkling_common.quantization.config")
    label(monkeypatch, inkling, {"ModelOptFp4LinearMethod": "NVFP4"})
    label(monkeypatch, engine(MODULE), {"ModelOptNvFp4FusedMoEMethod": "NVFP4"})
    util = engine("sglang.srt.models.inkling_common.util")
    monkeypatch.setattr(util, "shared_sink_uses_trtllm_bf16", lambda: False)
    without_experts(monkeypatch, engine)

    def build(config: Config) -> Any:
        packed = config.pop("packed_modules_mapping")
        section = config.get("quantization", config)
        whole = {"quantization": section, "packed_modules_mapping": packed}
        return inkling.InklingModelOptNvfp4Config.from_config(whole)

    def draw(random: Random, pair: Pair) -> Config:
        config = _config(random, pair, "NVFP4", ("exclude_modules", "ignore")) | {"group_size": 16}
        odd = ("unembed", "model.layers.1.mlp.w13_dn", "visual", "model.visual.blocks", "model.llm.layers.0.mlp.w2_md")
        config["exclude_modules"] = [*config.get("exclude_modules", []), *random.sample(odd, random.randint(0, 2))]
        return config

    kinds = ("linear", "moe", "lm_head")
    tally = compare(engine, Comparison("inkling", build, draw, kinds, engine="sglang-inkling"))
    tally.check("inkling", "own", "substring", *kinds, UNQUANTIZED, "quantized", "mapped")
