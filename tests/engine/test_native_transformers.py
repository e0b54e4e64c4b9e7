"""Transformers and our readings of the lists that it loads agree; so do ModelOpt's patterns and AutoAWQ's texts."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from native_cases import PAIRS, Tally, draw_entry, draw_name, draw_pair
from native_classes import wild

from qpolicy.native import engine_reading, producer_reading, read_config
from qpolicy.native.records import find_record

pytestmark = pytest.mark.engine

HEAD = object()
MODEL = SimpleNamespace(
    all_tied_weights_keys={},
    named_parameters=lambda: [("lm_head.weight", None)],
    get_output_embeddings=lambda: HEAD,
    named_modules=lambda: [("lm_head", HEAD)],
)


@pytest.mark.parametrize(
    ("method", "key", "always", "kinds"),
    [
        ("awq", "modules_to_not_convert", True, ("linear", "lm_head")),
        ("bitsandbytes", "llm_int8_skip_modules", False, ("linear", "lm_head")),
        ("mxfp4", "modules_to_not_convert", False, ("moe",)),
    ],
)
def test_lists(engine: Any, method: str, key: str, always: bool, kinds: tuple[str, ...]) -> None:
    quantizer = engine("transformers.quantizers.base").HfQuantizer
    convert = engine("transformers.quantizers.quantizers_utils").should_convert_module
    version = f"transformers {engine('transformers').__version__}"
    if find_record(method, version) is None:
        pytest.skip(f"nobody wrote down how {version} reads its list")

    def real(name: str, entries: list[str] | None) -> bool:
        # Experts in MXFP4 are asked about by the name of their container alone.
        names = _covering(name)[-1:] if method == "mxfp4" else _covering(name)
        skipped = quantizer.get_modules_to_not_convert(MODEL, entries, None, add_default_skips=always)
        # Of one list, transformers makes a set: which broken entry it meets first is left to chance, so it meets all.
        found = [not convert(name, [one]) for name in names for one in skipped]
        return any(found)

    def ours(name: str, kind: str, entries: list[str] | None) -> Any:
        config = {"quant_method": method, key: entries} if entries is not None else {"quant_method": method}
        return engine_reading(read_config(config), version).listed(name, kind)

    tally = _compare(f"{method} by {version}", real, ours, kinds)
    tally.check(f"{method} by {version}", *kinds, "excluded", "kept", "no list")


@pytest.mark.parametrize("key", ["ignore", "exclude_modules"])
def test_patterns_as_modelopt_writes_them(key: str) -> None:
    def real(name: str, entries: list[str] | None) -> bool:
        return any(fnmatch.fnmatchcase(one, entry) for one in _covering(name) for entry in entries or ())

    def ours(name: str, kind: str, entries: list[str] | None) -> Any:
        config = {"quant_method": "modelopt", "quant_algo": "NVFP4", key: entries or []}
        return producer_reading(read_config(config)).listed(name, kind)

    _compare(f"modelopt {key}", real, ours, ("linear", "moe")).check(
        f"modelopt {key}", "excluded", "kept", "linear", "moe"
    )


def test_substrings_within_a_layer_as_autoawq_reads_them() -> None:
    def real(name: str, entries: list[str] | None) -> bool:
        # awq/utils/module.py: exclude_layers_to_not_quantize, given the names within one decoder layer.
        within = [one.partition(".layers.")[2].partition(".")[2] for one in _covering(f"x.{name}")]
        return any(entry in one for one in within if one for entry in entries or ())

    def ours(name: str, kind: str, entries: list[str] | None) -> Any:
        config = {"quant_method": "awq", "modules_to_not_convert": entries or []}
        return producer_reading(read_config(config)).listed(name, kind)

    tally = _compare("autoawq", real, ours, ("linear", "moe"), numbered=True)
    tally.check("autoawq", "excluded", "kept", "linear", "moe")


def _covering(name: str) -> list[str]:
    """Return the names by which an entry may cover a stored module: its own, and that of its experts container."""
    parts = name.split(".")
    inside = [place for place, part in enumerate(parts[:-1]) if part == "experts"]
    return [name, *([".".join(parts[: inside[-1] + 1])] if inside else [])]


def _compare(
    title: str,
    real: Callable[[str, list[str] | None], bool],
    ours: Callable[[str, str, list[str] | None], Any],
    kinds: tuple[str, ...],
    numbered: bool = False,
) -> Tally:
    random, tally = Random(title), Tally()
    while tally.counts["pairs"] < PAIRS:
        name, kind, entries = _draw(random, kinds)
        if numbered and not re.search(r"layers\.\d+\.", name):
            continue
        try:
            expected = "excluded" if real(name, entries) else "kept"
        except re.error:
            expected = "refused"
        verdict = ours(name, kind, entries)
        found = "refused" if verdict.error else "excluded" if verdict.excluded else "kept"
        # Which entry is met first decides whether a broken one is met at all; ours tries them in order.
        agree = found == expected or (expected == "refused" and found == "excluded")
        assert agree, (title, name, kind, entries, verdict)
        tally.counts.update(("pairs", kind, found, *["no list"] * (entries is None), *["matched"] * (found != "kept")))
    return tally


def _cut(random: Random, name: str) -> str:
    """Draw a piece of the end of a name, half segments included."""
    piece = name[-random.randint(4, 12) :]
    return piece[: random.randint(3, len(piece))]


def _draw(random: Random, kinds: tuple[str, ...]) -> tuple[str, str, list[str] | None]:
    kind = random.choice(kinds)
    name = "lm_head" if kind == "lm_head" else draw_name(random)[0]
    if kind == "moe":
        name = f"model.layers.{random.choice((0, 1, 10, 11))}.mlp.experts" + random.choice(
            ("", ".gate_up_proj", ".3.up_proj")
        )
    if random.random() < 0.1:
        return name, kind, None
    near = [random.choice((wild, draw_entry, _cut, _cut))(random, random.choice(_covering(name))) for _ in range(2)]
    entries = near + list(draw_pair(random, mapped=False).entries[:1])
    return name, kind, entries[: random.choice((0, 1, 2, 3, 3))]
