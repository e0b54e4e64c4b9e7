"""SGLang's config classes and our reading choose the same scheme for a layer, or refuse the same layers."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, Pair, Tally, draw_entry, draw_name, draw_pair

from qpolicy.native import Answer, Mapper, NativeConfig, engine_reading, read_config
from qpolicy.native.records import class_names

pytestmark = pytest.mark.engine

REFUSED = "refused"
UNQUANTIZED = "unquantized"
MXFP4 = "SGLang's MXFP4 experts, whatever the list says"
BYPASS = "without consulting the list"
QUARK_FAMILIES = {
    "gate_up_proj": ["gate_proj", "up_proj"],
    "fused_qkv_a_proj_with_mqa": ["q_a_proj", "kv_a_proj_with_mqa"],
}
SHARDS = "every shard has a target"
REASONS = (
    BYPASS,
    "fits the class",
    "layer_quant_config[",
    "layer_type_quant_config has",
    "the scheme of all layers",
    "names an expert",
)


class Chosen(Exception):  # noqa: N818 - it carries the engine's choice out of the function under test
    """Stops SGLang where it has chosen the arguments and would next look for a GPU."""


def test_compressed_tensors_schemes_of_linear_layers(engine: Any) -> None:
    def real(pair: Pair, config: dict[str, Any]) -> str:
        scheme = _compressed(engine, pair, config).get_scheme_dict(_layer(pair.name, "linear"), pair.name)
        return UNQUANTIZED if scheme is None else str(scheme["weights"].num_bits)

    tally = _compare("compressed-tensors", "linear", real, _draw_groups)
    tally.check("compressed-tensors linear", "quantized", UNQUANTIZED, REFUSED, "fits the class", SHARDS, "mapped")


def test_compressed_tensors_schemes_of_experts(engine: Any) -> None:
    def real(pair: Pair, config: dict[str, Any]) -> str:
        built = _compressed(engine, pair, config)
        built._is_wNa16_group_channel = _raise_chosen
        if built._is_mxfp4_moe(pair.name):
            return MXFP4
        try:
            assert built.get_moe_scheme(_layer(pair.name, "moe"), pair.name) is None
        except Chosen as chosen:
            return str(chosen)
        return UNQUANTIZED

    tally = _compare("compressed-tensors", "moe", real, _draw_groups)
    tally.check("compressed-tensors moe", "quantized", UNQUANTIZED, REFUSED, BYPASS, "mapped")


def test_compressed_tensors_schemes_of_lm_heads(engine: Any) -> None:
    def real(pair: Pair, config: dict[str, Any]) -> str:
        built = _compressed(engine, pair, config)
        built.get_linear_scheme = lambda layer, layer_name, matched_target: matched_target
        target = built.get_lm_head_scheme(object(), pair.name)
        return UNQUANTIZED if target is None else str(built.target_scheme_map[target]["weights"].num_bits)

    tally = _compare("compressed-tensors", "lm_head", real, _draw_groups)
    tally.check("compressed-tensors lm_head", "quantized", UNQUANTIZED, REFUSED)


@pytest.mark.parametrize("kind", ["linear", "moe"])
def test_quark_schemes(engine: Any, kind: str) -> None:
    config_class = engine("sglang.srt.layers.quantization.quark.quark").QuarkConfig
    should_ignore = engine("sglang.srt.layers.quantization.quark.utils").should_ignore_layer

    def real(pair: Pair, config: dict[str, Any]) -> str:
        built = config_class.from_config({**config, "packed_modules_mapping": {**pair.packed, **QUARK_FAMILIES}})
        _rename(engine, built, pair)
        if should_ignore(pair.name, built.exclude_layers, built.packed_modules_mapping):
            return UNQUANTIZED
        return str(built._find_matched_config(pair.name, _layer(pair.name, kind))["weight"]["bits"])

    tally = _compare("quark", kind, real, _draw_layers)
    events = ("layer_quant_config[", "layer_type_quant_config has", "the scheme of all layers", REFUSED, "mapped")
    tally.check(f"quark {kind}", *events, *(["names an expert"] if kind == "moe" else []))


def _compare(
    dialect: str,
    kind: str,
    real: Callable[[Pair, dict[str, Any]], str],
    draw: Callable[[Random, Pair], dict[str, Any]],
) -> Tally:
    random, tally = Random(f"schemes of {dialect} {kind}"), Tally()
    while tally.counts["pairs"] < PAIRS:
        pair = draw_pair(random, QUARK_FAMILIES if dialect == "quark" else None)
        if kind in ("lm_head", pair.kind):
            config = draw(random, pair)
            verdict = _real_verdict(lambda pair=pair, config=config: real(pair, config))
            answer, ours = _ours(pair, kind, config)
            assert ours == verdict, (pair, config, answer)
            _count(tally, pair, answer)
    return tally


def _count(tally: Tally, pair: Pair, answer: Answer) -> None:
    tally.counts.update(("pairs", "mapped" if pair.mapper else "plain"))
    tally.counts.update([REFUSED if answer.outcome == "error" else str(answer.outcome)])
    unmatched = answer.outcome == UNQUANTIZED and not answer.excluded
    tally.counts.update(["matched"] * (not unmatched and "the scheme of all layers" not in answer.why))
    tally.counts.update(reason for reason in REASONS if reason in answer.why)
    by_shard = answer.why.startswith("quantization_config.config_groups") and "the class" not in answer.why
    tally.counts.update([SHARDS] * (by_shard and not answer.why.endswith(f"fits {pair.name}")))


def _ours(pair: Pair, kind: str, config: dict[str, Any]) -> tuple[Answer, str]:
    read = read_config(config)
    mapper = None if pair.mapper is None else Mapper(**pair.mapper)
    answer = engine_reading(read, "sglang", pair.packed, mapper).ask(pair.name, kind)
    if answer.outcome == "error":
        return answer, REFUSED
    if BYPASS in answer.why:
        return answer, MXFP4
    return answer, UNQUANTIZED if answer.outcome == UNQUANTIZED else _bits(read, str(answer.scheme))


def _bits(config: NativeConfig, scheme: str) -> str:
    group = next(group for group in config.groups if group.name == scheme)
    return str(group.arguments["weight"]["bits"] if config.dialect == "quark" else group.arguments[0]["num_bits"])


def _real_verdict(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except (ValueError, NotImplementedError, re.error):
        return REFUSED


def _draw_groups(random: Random, pair: Pair) -> dict[str, Any]:
    groups = {f"group_{number}": _draw_group(random, pair, number) for number in range(random.randint(0, 3))}
    entries = list(pair.entries) if random.random() < 0.5 else list(pair.entries[:1])
    if random.random() < 0.2:
        entries += [f"{pair.name}.0.{leaf}" for leaf in ("gate_proj", "up_proj", "down_proj")]
    format_name = random.choice(("pack-quantized", "float-quantized", "mixed-precision", "mxfp4-pack-quantized"))
    if pair.kind == "linear" or not any("Linear" in group["targets"] for group in groups.values()):
        format_name = "pack-quantized"
    return {
        "quant_method": "compressed-tensors",
        "format": format_name,
        "ignore": entries,
        "config_groups": groups,
    }


def _draw_group(random: Random, pair: Pair, number: int) -> dict[str, Any]:
    targets = ["Linear"] if random.random() < 0.4 else []
    for _ in range(random.randint(0, 2)):
        name = pair.name if random.random() < 0.6 else draw_name(random)[0]
        if pair.kind == "moe" and random.random() < 0.7:
            name += random.choice((".0.gate_proj", ".0.up_proj", ".0.down_proj"))
        targets += _draw_targets(random, pair, name)
    if random.random() < 0.2:
        targets.append(random.choice(("FusedMoE", "MoE", "Parallel", "re:.*Linear$", "re:.*", "", "QKVParallelLinear")))
    leaf = pair.name.rpartition(".")[2]
    if leaf in pair.packed and random.random() < 0.6:
        targets = [pair.name.replace(leaf, shard) for shard in pair.packed[leaf]]
    weights: dict[str, Any] = {"num_bits": random.choice((4, 8)), "type": "int", "strategy": "group", "group_size": 32}
    if random.random() < 0.2 and weights["num_bits"] == 4:
        weights["type"] = "float"
    if random.random() < 0.3:
        weights["symmetric"] = True
    if random.random() < 0.1:
        weights = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]}
    return {"targets": targets, "weights": weights, "input_activations": None}


def _draw_targets(random: Random, pair: Pair, name: str) -> list[str]:
    leaf = name.rpartition(".")[2]
    if leaf in pair.packed and random.random() < 0.6:
        return [name.replace(leaf, shard) for shard in pair.packed[leaf]]
    return [draw_entry(random, name)]


def _draw_layers(random: Random, pair: Pair) -> dict[str, Any]:
    schemes = (
        {"weight": {"bits": bits, "group": bits * 8}, "bias": None} for bits in iter(lambda: random.choice((4, 8)), 0)
    )
    layers = _draw_targets(random, pair, pair.name)
    layers += [draw_entry(random, draw_name(random)[0]) for _ in range(random.randint(0, 2))]
    if pair.kind == "moe" and random.random() < 0.6:
        experts = range(random.randint(1, 3)) if random.random() < 0.8 else (1,)
        leaves = random.choice((("gate_proj", "up_proj"), ("up_proj",)))
        layers = [f"{pair.name}.{expert}.{leaf}" for expert in experts for leaf in leaves]
        layers += ["odd"] if random.random() < 0.5 else [f"{pair.name}.{random.choice(('x', '0', '3.w1'))}"]
        alike = {layer: next(schemes) for layer in layers[:1]}
        layer_schemes = {
            layer: next(iter(alike.values())) if random.random() < 0.9 else next(schemes) for layer in layers
        }
    else:
        layer_schemes = {layer: next(schemes) for layer in layers}
    kinds = class_names("sglang", pair.kind, pair.name.rpartition(".")[2])
    layer_schemes.pop(kinds[0], None)
    return {
        "quant_method": "quark",
        "exclude": list(pair.entries) if random.random() < 0.5 else [],
        "export": {"kv_cache_group": []},
        "layer_quant_config": layer_schemes,
        "layer_type_quant_config": {random.choice((*kinds, "LSTM")): next(schemes)},
        "global_quant_config": next(schemes),
    }


def _compressed(engine: Any, pair: Pair, config: dict[str, Any]) -> Any:
    module = engine("sglang.srt.layers.quantization.compressed_tensors.compressed_tensors")
    built = module.CompressedTensorsConfig.from_config({**config, "packed_modules_mapping": pair.packed})
    _rename(engine, built, pair)
    return built


def _rename(engine: Any, built: Any, pair: Pair) -> None:
    if pair.mapper is None:
        return
    keys = {f"orig_to_new_{key}": dict(value) for key, value in pair.mapper.items()}
    built.apply_weight_name_mapper(engine("sglang.srt.models.utils").WeightsMapper(**keys))


def _layer(name: str, kind: str) -> Any:
    """Return an object of the class that stands for such a layer; SGLang looks at nothing but its name."""
    return type(class_names("sglang", kind, name.rpartition(".")[2])[0], (), {})()


def _raise_chosen(weights: Any, activations: Any) -> bool:
    raise Chosen(weights.num_bits)
