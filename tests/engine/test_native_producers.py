"""The libraries that write the lists, and our reading of what they meant, give the same answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, Pair, Tally, draw_pair

from qpolicy.native import engine_reading, producer_reading, read_config
from qpolicy.native.records import find_record

pytestmark = pytest.mark.engine

FAMILIES = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}


@pytest.mark.parametrize("packed", [{}, FAMILIES], ids=["alone", "in families"])
def test_compressed_tensors_lists(engine: Any, packed: dict[str, list[str]]) -> None:
    is_match = engine("compressed_tensors.utils.match").is_match
    linear = engine("torch").nn.Linear(1, 1)

    def real(pair: Pair) -> bool:
        return any(is_match(name, linear, list(pair.entries)) for name in _names(pair.name, packed))

    def ours(pair: Pair) -> Any:
        config = {"quant_method": "compressed-tensors", "ignore": list(pair.entries)}
        return producer_reading(read_config(config), packed).listed(pair.name, "linear")

    wanted = ("own-or-class", "family", "refused")
    _compare("compressed-tensors", real, ours).check("compressed-tensors' producer", *wanted)


def test_the_fused_layers_of_the_compressed_tensors_library(engine: Any) -> None:
    match_name = engine("compressed_tensors.utils.match").match_name
    random, seen = Random("fused"), {True: 0, False: 0}
    for _ in range(PAIRS):
        pair = draw_pair(random, mapped=False)
        entries = [entry for entry in pair.entries if not entry.startswith(("re:(", "re:*"))]
        parent = pair.name.rpartition(".")[0].replace("experts", "layers")
        fused, shards = f"{parent}.qkv_proj", [f"{parent}.{shard}" for shard in FAMILIES["qkv_proj"]]
        config = {"quant_method": "compressed-tensors", "ignore": entries}
        reading = producer_reading(read_config(config))
        ours = any(reading.listed(shard, "").excluded for shard in shards)
        assert ours == any(match_name(fused, entry, FAMILIES) for entry in entries), (fused, entries)
        seen[ours] += 1
    assert min(seen.values()) > 5


def test_transformers_lists(engine: Any) -> None:
    should_convert = engine("transformers.quantizers.quantizers_utils").should_convert_module
    version = f"transformers {engine('transformers').__version__}"
    # Between the two versions that were read the rule changed once; an installed one in between is not guessed at.
    if find_record("fp8", version) is None:
        pytest.skip(f"nobody wrote down how {version} reads its list")

    def real(pair: Pair) -> bool:
        return any(not should_convert(name, list(pair.entries)) for name in _names(pair.name, FAMILIES))

    def ours(pair: Pair) -> Any:
        config = {"quant_method": "fp8", "modules_to_not_convert": list(pair.entries)}
        return engine_reading(read_config(config), version, FAMILIES).listed(pair.name, "linear")

    _compare("transformers", real, ours).check(version, "own", "family", "refused")


def _names(name: str, packed: dict[str, list[str]]) -> list[str]:
    """Spell out what an entry may name to cover a stored module: itself, its fused layer, its experts container."""
    parent, _, leaf = name.rpartition(".")
    fused = [f"{parent}.{family}" for family, shards in packed.items() if leaf in shards]
    parts = name.split(".")
    if "experts" not in parts[:-1]:
        return [name, *fused]
    last = len(parts) - 2 - parts[-2::-1].index("experts")
    return [name, *fused, ".".join(parts[: last + 1])]


def _compare(title: str, real: Callable[[Pair], bool], ours: Callable[[Pair], Any]) -> Tally:
    random, tally = Random(f"producers' lists of {title}"), Tally()
    for _ in range(PAIRS):
        pair = draw_pair(random, mapped=False)
        if random.random() < 0.2:
            pair = replace(pair, entries=(_names(pair.name, FAMILIES)[-1], *pair.entries[:1]))
        try:
            expected = "excluded" if real(pair) else "kept"
        except re.error:
            expected = "refused"
        verdict = ours(pair)
        found = "refused" if verdict.error else "excluded" if verdict.excluded else "kept"
        assert found == expected, (pair, verdict)
        tally.counts.update(
            ("pairs", verdict.step, *["matched"] * (found != "kept"), *["refused"] * bool(verdict.error))
        )
    return tally
