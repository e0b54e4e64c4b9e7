"""SGLang's own classes and our readings make the same of rules: ordered names or expressions with settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, Pair, Tally, draw_name, draw_pair

from qpolicy.native import Answer, NativeConfig, Reading, engine_reading, read_config
from qpolicy.native.records import find_record

pytestmark = pytest.mark.engine

REFUSED, UNQUANTIZED = "refused", "unquantized"
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}
AUTO_ROUND = {"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}
MODELSLIM_FAMILIES: dict[str, Any] = {
    "visual": {"qkv_proj": ["qkv"], "gate_up_proj": ["gate_proj", "up_proj"]},
    "vision_model": {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "proj": ["out_proj"]},
    "model": {
        "qkv_proj": ["q_proj", "k_proj", "v_proj"],
        "gate_up_proj": ["gate_proj", "up_proj"],
        "fused_qkv_a_proj_with_mqa": ["q_a_proj", "kv_a_proj_with_mqa"],
        "index_qkv_proj": ["index_q_proj", "index_k_proj"],
    },
}
Config = dict[str, Any]


@pytest.mark.parametrize("kind", ["linear", "lm_head"])
def test_gptq(engine: Any, kind: str) -> None:
    config_class = engine("sglang.srt.layers.quantization.gptq").GPTQMarlinConfig
    choose = engine("sglang.srt.layers.quantization.utils").get_linear_quant_method
    layer = _layer(engine, kind)

    def real(pair: Pair, config: Config) -> str:
        method = choose(config_class.from_config(config), layer, pair.name, linear_method_cls=lambda built: built)
        return str(method.weight_bits) if isinstance(method, config_class) else UNQUANTIZED

    def published(random: Random, pair: Pair) -> Config:
        signs = ("-:", "-:", "+:", "")
        dynamic = {random.choice(signs) + _expression(entry): _gptq_settings(random) for entry in pair.entries}
        return {**GPTQ, "dynamic": dynamic, "lm_head": random.random() < 0.8}

    tally = _compare(f"gptq {kind}", kind, real, published)
    tally.check(f"gptq {kind}", "quantized", "rule", "other settings", "first is positive", REFUSED)


def test_gptq_gives_experts_its_settings_whatever_dynamic_says(engine: Any) -> None:
    gptq = engine("sglang.srt.layers.quantization.gptq")
    built = gptq.GPTQMarlinConfig.from_config({**GPTQ, "dynamic": {"-:.*": {}}})
    method = built.get_quant_method(_layer(engine, "moe"), "model.layers.0.mlp.experts")
    assert isinstance(method, gptq.GPTQMarlinMoEMethod)
    reading = engine_reading(read_config({**GPTQ, "dynamic": {"-:.*": {}}}), "sglang")
    assert reading.ask("model.layers.0.mlp.experts", "moe").outcome == "quantized"


@pytest.mark.parametrize("kind", ["linear", "moe", "lm_head"])
def test_auto_round(engine: Any, kind: str) -> None:
    config_class = engine("sglang.srt.layers.quantization.auto_round").AutoRoundConfig
    layer = _layer(engine, kind)

    def real(pair: Pair, config: Config) -> str:
        built = config_class.from_config(config)
        built.packed_modules_mapping = dict(pair.packed)
        bits = built.get_layer_config(layer, pair.name)[0]
        return str(bits) if built.check_quantized(bits) else UNQUANTIZED

    def published(random: Random, pair: Pair) -> Config:
        keys = [entry if random.random() < 0.5 else _expression(entry) for entry in pair.entries]
        if kind == "moe" and random.random() < 0.6:
            keys += [f"{pair.name}.{expert}.{leaf}_proj" for expert in (0, 1) for leaf in ("up", "down")]
        alike = _auto_round_settings(random)
        extra = {key: alike if random.random() < 0.7 else _auto_round_settings(random) for key in keys}
        blocks: Config = random.choice(({}, {}, {"block_name_to_quantize": _blocks(random, pair)}))
        if blocks and random.random() < 0.4:
            blocks = {
                random.choice(("block_name_to_quantize", "to_quant_block_names")): ",".join(_blocks(random, pair))
            }
        return {**AUTO_ROUND, **blocks, **random.choice(({}, {"extra_config": extra}, {"extra_config": extra}))}

    tally = _compare(f"auto-round {kind}", kind, real, published)
    events = ["quantized", "settings", "other settings"] + [REFUSED] * (kind != "lm_head")
    tally.check(f"auto-round {kind}", *events)


@pytest.mark.parametrize("kind", ["linear", "moe"])
def test_modelslim(engine: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = engine("sglang.srt.layers.quantization.modelslim.modelslim")
    for name in [name for name in vars(module) if re.match(r"ModelSlim\w*(Int8|Int4|Scheme|MoE)$", name)]:
        monkeypatch.setattr(module, name, type(name, (), {"__init__": lambda self, *args, **more: None, "kernel": 0}))
    layer = _layer(engine, kind)

    def real(pair: Pair, config: Config) -> str:
        built = module.ModelSlimConfig(dict(config))
        built.packed_modules_mapping = {**pair.packed, **MODELSLIM_FAMILIES}
        method = built.get_quant_method(layer, pair.name)
        return UNQUANTIZED if type(method).__name__.startswith("Unquantized") else "quantized"

    draw = _draw_modelslim_experts if kind == "moe" else _draw_modelslim
    tally = _compare(f"modelslim {kind}", kind, real, draw)
    events = [REFUSED, "quantized"] + ["rule-in-own-families", "rule-in-families"] * (kind == "linear")
    tally.check(f"modelslim {kind}", *events)


def test_torchaos_list_in_transformers(engine: Any) -> None:
    should_convert = engine("transformers.quantizers.quantizers_utils").should_convert_module
    version = f"transformers {engine('transformers').__version__}"
    if find_record("torchao", version) is None:
        pytest.skip(f"nobody wrote down how {version} reads its list")
    random, tally = Random("torchao in transformers"), Tally()
    for _ in range(PAIRS):
        pair = draw_pair(random, mapped=False)
        entries = [*pair.entries, f"{pair.name}.weight"] if random.random() < 0.2 else list(pair.entries)
        config = {"quant_method": "torchao", "quant_type": "int4_weight_only", "modules_to_not_convert": entries}
        listed = engine_reading(read_config(config), version).listed(pair.name, "linear")
        found = REFUSED if listed.error else UNQUANTIZED if listed.excluded else "quantized"
        real = _real_verdict(
            lambda name=f"{pair.name}.weight", entries=entries: (
                "quantized" if should_convert(name, entries) else UNQUANTIZED
            )
        )
        assert found == real, (pair, listed)
        tally.counts.update(("pairs", found, listed.step, *["matched"] * (found != "quantized")))
    tally.check(f"torchao in {version}", "own", REFUSED, UNQUANTIZED)


def _compare(
    title: str, kind: str, real: Callable[[Pair, Config], str], published: Callable[[Random, Pair], Config]
) -> Tally:
    random, tally = Random(f"rules of {title}"), Tally()
    while tally.counts["pairs"] < PAIRS:
        pair = draw_pair(random, MODELSLIM_FAMILIES["model"] if "modelslim" in title else None, mapped=False)
        if kind not in ("lm_head", pair.kind) or (kind == "moe") != (pair.kind == "moe"):
            continue
        config = published(random, pair)
        read = read_config(config)
        reading = engine_reading(read, "sglang", pair.packed)
        answer = reading.ask(pair.name, kind)
        found = _ours(read, answer)
        expected = _real_verdict(lambda pair=pair, config=config: real(pair, config))
        assert found == expected, f"{pair}\n{config}\n{answer}\n{expected}"
        _count(tally, read, reading, pair, kind, answer)
    return tally


def _count(tally: Tally, read: NativeConfig, reading: Reading, pair: Pair, kind: str, answer: Answer) -> None:
    listed = reading.listed(pair.name, kind)
    assert set(listed.entries) <= set(reading.matching(pair.name, kind)), (pair, read.raw)
    by_rule = answer.scheme is not None and answer.scheme not in ("gptq", "auto-round")
    tally.counts.update(("pairs", str(answer.outcome), listed.step))
    tally.counts.update([REFUSED] * (answer.outcome == "error") + ["other settings"] * by_rule)
    tally.counts.update(["first is positive"] * (by_rule and bool(reading.matching(pair.name, kind))))
    tally.counts.update(["matched"] * (answer.outcome == "error" or by_rule or bool(answer.entries)))


def _ours(read: NativeConfig, answer: Answer) -> str:
    if answer.outcome != "quantized":
        return REFUSED if answer.outcome == "error" else UNQUANTIZED
    group = next(group for group in read.groups if group.name == answer.scheme)
    if read.dialect == "modelslim":
        return "quantized"
    return str(group.arguments.get("bits", read.raw["bits"]))


def _real_verdict(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except (ValueError, re.error):
        return REFUSED


def _expression(entry: str) -> str:
    return entry.removeprefix("re:")


def _gptq_settings(random: Random) -> Config:
    return dict(
        random.choice(({}, {"bits": 8}, {"bits": 8, "group_size": 64}, {"bits": 3}, {"sym": False}, {"bits": "8"}))
    )


def _auto_round_settings(random: Random) -> Config:
    settings = (
        {"bits": 16},
        {"bits": 16, "data_type": "float"},
        {"bits": 8},
        {"bits": 8, "sym": False},
        {},
        {"group_size": 32},
    )
    return dict(random.choice(settings))


def _blocks(random: Random, pair: Pair) -> list[str]:
    other = draw_name(random)[0]
    return [name[: random.randint(3, len(name))] for name in (pair.name, other) if random.random() < 0.6] or [
        "model.la"
    ]


def _draw_modelslim(random: Random, pair: Pair) -> Config:
    leaf = pair.name.rpartition(".")[2]
    families = {**MODELSLIM_FAMILIES["model"], **MODELSLIM_FAMILIES["vision_model"], **pair.packed, "qkv": ["qkv"]}
    shards = [pair.name.replace(leaf, shard) for shard in families.get(leaf, [leaf])] + [pair.name] * 2
    scheme = random.choice(("FLOAT", "FLOAT", "W8A8_DYNAMIC", "W8A8", "W4A16"))
    found = {}
    for name in shards:
        if random.random() < 0.9:
            found[f"{_respelt(random, name)}.weight"] = scheme if random.random() < 0.85 else "FLOAT"
    other = draw_name(random)[0]
    return {"quant_method": "modelslim", **found, f"{other}.weight": "FLOAT", f"{other}.weight_scale": "FLOAT"}


def _draw_modelslim_experts(random: Random, pair: Pair) -> Config:
    name = _respelt(random, pair.name)
    leaves = random.choice((("gate_proj", "up_proj", "down_proj"), ("w1", "w3", "w2"), ("gate_proj", "down_proj")))
    scheme = random.choice(("W8A8_DYNAMIC", "W8A8_DYNAMIC", "W4A8_DYNAMIC", "FLOAT"))
    found = {
        f"{name}.{expert}.{leaf}.weight": scheme if random.random() < 0.9 else "W8A8_MXFP8"
        for expert in random.choice(((0, 1), (1,), (0,)))
        for leaf in leaves
    }
    return {"quant_method": "modelslim", **found}


def _respelt(random: Random, name: str) -> str:
    other = name.replace(".mlp.", ".block_sparse_moe.") if random.random() < 0.3 else name
    if random.random() < 0.3:
        prefix = "language_model."
        other = other.removeprefix(prefix) if other.startswith(prefix) else prefix + other
    return other


def _layer(engine: Any, kind: str) -> Any:
    """Return a layer of SGLang's own class that was never built: its type is all that is looked at."""
    module, name = {
        "linear": ("sglang.srt.layers.linear", "LinearBase"),
        "lm_head": ("sglang.srt.layers.vocab_parallel_embedding", "ParallelLMHead"),
        "moe": ("sglang.srt.layers.moe.fused_moe_triton", "FusedMoE"),
    }[kind]
    layer_class = getattr(engine(module), name)
    return layer_class.__new__(layer_class)
