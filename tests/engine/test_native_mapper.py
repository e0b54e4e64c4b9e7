"""Our rewriting of entries is SGLang's, and so is our arithmetic on schemes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, draw_entry, draw_name

from qpolicy.native import Mapper
from qpolicy.native.arguments import same_scheme, weight_arguments
from qpolicy.native.dialects.compressed_tensors import ConfigGroup

pytestmark = pytest.mark.engine

PIECES = (
    "model.",
    "model.layers.1",
    "layers.",
    "gate",
    "gate_proj",
    "_proj",
    ".experts",
    "mtp.",
    "61",
    "q",
    "language_model.",
)


def test_every_rewriting(engine: Any) -> None:
    mapper_class = engine("sglang.srt.models.utils").WeightsMapper
    random, changed, removed = Random("rewriting"), 0, 0
    for _ in range(PAIRS):
        rules = {key: _draw_rules(random) for key in ("substr", "prefix", "suffix")}
        text = draw_entry(random, draw_name(random)[0])
        real = mapper_class(**{f"orig_to_new_{key}": dict(rule) for key, rule in rules.items()})._map_name(text)
        assert Mapper(**rules).rename(text) == real, (rules, text)
        changed, removed = changed + (real not in (None, text)), removed + (real is None)
    assert changed > PAIRS / 5
    assert removed > PAIRS / 50


def _draw_rules(random: Random) -> dict[str, str | None]:
    chosen = random.sample(PIECES, random.randint(0, 3))
    return {piece: random.choice((None, "", "x.", *PIECES)) for piece in chosen}


def test_two_groups_are_one_scheme_when_compressed_tensors_says_so(engine: Any) -> None:
    arguments = engine("compressed_tensors.quantization").QuantizationArgs
    random, equal = Random("schemes"), 0
    for _ in range(min(PAIRS, 5000)):
        pair = [_draw_weights(random) for _ in range(2)]
        real = arguments.model_validate(pair[0]) == arguments.model_validate(pair[1])
        ours = [weight_arguments(ConfigGroup(weights=weights), None) for weights in pair]
        assert (ours[0] == ours[1]) == real, pair
        equal += real
    assert equal > 50


def _draw_weights(random: Random) -> dict[str, Any]:
    weights: dict[str, Any] = {"num_bits": random.choice((4, 8))}
    weights |= random.choice(({}, {"type": "int"}, {"type": "INT"}, {"symmetric": True}, {"dynamic": False}))
    weights |= random.choice(({}, {"group_size": 32}, {"group_size": 32, "strategy": "group"}, {"group_size": -1}))
    weights |= random.choice(({}, {"strategy": "tensor"} if "group_size" not in weights else {}))
    return weights | random.choice(({}, {"observer": "memoryless_minmax"}, {"actorder": None}, {"actorder": False}))


def test_two_quark_schemes_are_one_when_sglang_says_so(engine: Any) -> None:
    deep_compare = engine("sglang.srt.layers.quantization.quark.utils").deep_compare
    values: tuple[Any, ...] = (
        None,
        1,
        1.0,
        True,
        "1",
        [1, 2],
        [2, 1],
        [1, 2, 2],
        [],
        {"a": 1},
        {"a": True},
        {"a": [1]},
    )
    for one in values:
        for other in values:
            assert same_scheme(one, other) == deep_compare(one, other), (one, other)
