"""SGLang's own functions and our reading of its exclusion lists give the same answer, or refuse the same names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, Pair, Tally, draw_pair

from qpolicy.native import Mapper, engine_reading, read_config

pytestmark = pytest.mark.engine

Verdict = str
REFUSED = "refused"
QUARK_FAMILIES = {
    "gate_up_proj": ["gate_proj", "up_proj"],
    "fused_qkv_a_proj_with_mqa": ["q_a_proj", "kv_a_proj_with_mqa"],
}


def test_fp8_lists(engine: Any) -> None:
    config_class = engine("sglang.srt.layers.quantization.fp8").Fp8Config
    is_skipped = engine("sglang.srt.layers.quantization.utils").is_layer_skipped

    def real(pair: Pair, config: dict[str, Any]) -> bool:
        built = config_class.from_config({**config, "packed_modules_mapping": pair.packed})
        _rename(engine, built, pair)
        return bool(is_skipped(pair.name, built.ignored_layers, fused_mapping=built.packed_modules_mapping))

    def published(random: Random, entries: list[str]) -> dict[str, Any]:
        config: dict[str, Any] = {"quant_method": "fp8", "activation_scheme": "dynamic"}
        keys = random.choice(
            (["ignored_layers"], ["modules_to_not_convert"], ["modules_to_not_convert", "ignored_layers"])
        )
        return {**config, **dict.fromkeys(keys, entries), **dict.fromkeys(keys[1:])}

    tally = _compare("fp8", real, published, {})
    tally.check("fp8", "own", "shards", "gate-and-up", "expert-in-entry", REFUSED, "mapped")


def test_compressed_tensors_lists(engine: Any) -> None:
    config_class = engine(
        "sglang.srt.layers.quantization.compressed_tensors.compressed_tensors"
    ).CompressedTensorsConfig
    should_ignore = engine("sglang.srt.layers.quantization.compressed_tensors.utils").should_ignore_layer

    def real(pair: Pair, config: dict[str, Any]) -> bool:
        built = config_class.from_config({**config, "packed_modules_mapping": pair.packed})
        _rename(engine, built, pair)
        return bool(should_ignore(pair.name, ignore=built.ignore, fused_mapping=built.packed_modules_mapping))

    def published(random: Random, entries: list[str]) -> dict[str, Any]:
        return {"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": entries}

    tally = _compare("compressed-tensors", real, published, {})
    tally.check("compressed-tensors", "own", "own-if-listed", "shards", REFUSED, "mapped")


def test_quark_lists(engine: Any) -> None:
    config_class = engine("sglang.srt.layers.quantization.quark.quark").QuarkConfig
    should_ignore = engine("sglang.srt.layers.quantization.quark.utils").should_ignore_layer

    def real(pair: Pair, config: dict[str, Any]) -> bool:
        packed = {**pair.packed, **QUARK_FAMILIES}
        built = config_class.from_config({**config, "packed_modules_mapping": packed})
        _rename(engine, built, pair)
        return bool(should_ignore(pair.name, ignore=built.exclude_layers, fused_mapping=built.packed_modules_mapping))

    def published(random: Random, entries: list[str]) -> dict[str, Any]:
        return {"quant_method": "quark", "exclude": entries, "export": {"kv_cache_group": []}, "layer_quant_config": {}}

    tally = _compare("quark", real, published, QUARK_FAMILIES)
    tally.check("quark", "own", "entry-below-experts", "shards", REFUSED, "mapped")


def _compare(
    dialect: str,
    real: Callable[[Pair, dict[str, Any]], bool],
    published: Callable[[Random, list[str]], dict[str, Any]],
    families: dict[str, list[str]],
) -> Tally:
    random, tally = Random(f"lists of {dialect}"), Tally()
    for pair in _pairs(random, families):
        config = published(random, list(pair.entries))
        verdict = _real_verdict(lambda pair=pair, config=config: real(pair, config))
        ours, step = _our_verdict(pair, config)
        assert ours == verdict, (pair, config)
        tally.counts.update(("pairs", "mapped" if pair.mapper else "plain", step))
        tally.counts.update(["matched"] * (verdict != "kept") + [REFUSED] * (verdict == REFUSED))
    return tally


def _pairs(random: Random, families: dict[str, list[str]]) -> Iterator[Pair]:
    return (draw_pair(random, families) for _ in range(PAIRS))


def _real_verdict(ask: Callable[[], bool]) -> Verdict:
    try:
        return "excluded" if ask() else "kept"
    except (ValueError, re.error):
        return REFUSED


def _our_verdict(pair: Pair, config: dict[str, Any]) -> tuple[Verdict, str]:
    mapper = None if pair.mapper is None else Mapper(**pair.mapper)
    # An engine's matching functions know no kinds; a linear layer is the one that is asked under its own name.
    reading = engine_reading(read_config(config), "sglang", pair.packed, mapper)
    listed = reading.listed(pair.name, "linear")
    assert set(listed.entries) <= set(reading.matching(pair.name, "linear")), pair
    if listed.error is not None:
        return REFUSED, listed.step
    return "excluded" if listed.excluded else "kept", listed.step


def _rename(engine: Any, built: Any, pair: Pair) -> None:
    if pair.mapper is None:
        return
    keys = {f"orig_to_new_{key}": dict(value) for key, value in pair.mapper.items()}
    built.apply_weight_name_mapper(engine("sglang.srt.models.utils").WeightsMapper(**keys))
