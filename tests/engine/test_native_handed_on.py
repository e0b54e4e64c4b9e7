"""Where transformers hands a config to the library that wrote it, the model is built as that library reads it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from native_cases import PAIRS, Pair, draw_pair

from qpolicy.native import engine_reading, read_config

pytestmark = pytest.mark.engine

MOST = 100
"""One model is built for so many pairs, for building takes longer than comparing."""
CONFIG = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "quantization_status": "frozen",
    "config_groups": {
        "group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}
    },
}


def test_transformers_gives_compressed_tensors_the_model(engine: Any) -> None:
    random, seen = Random("handed on"), {"quantized": 0, "unquantized": 0}
    for _ in range(max(PAIRS // MOST, 5)):
        pairs = [draw_pair(random, mapped=False) for _ in range(MOST)]
        published = {**CONFIG, "ignore": [entry for pair in pairs[:12] for entry in _sound(pair)]}
        names = _separate(dict.fromkeys(pair.name for pair in pairs))
        real = _built(engine, published, names)
        reading = engine_reading(read_config(published), "transformers")
        for name in names:
            outcome = reading.ask(name, "linear").outcome
            assert outcome == real[name], (name, published["ignore"])
            seen[outcome] += 1
    assert min(seen.values()) >= sum(seen.values()) / 5, seen


def _sound(pair: Pair) -> list[str]:
    """Drop what is no expression: there both stop."""
    return [entry for entry in pair.entries if not entry.startswith(("re:(", "re:*"))]


def _separate(names: dict[str, None]) -> list[str]:
    """Drop the names that lie below others, for a linear layer has no layers below it."""
    parents = {name[:place] for name in names for place, character in enumerate(name) if character == "."}
    below = [name for name in names if any(name.startswith(f"{other}.") for other in names)]
    return [name for name in names if name not in parents and name not in below]


def _built(engine: Any, published: dict[str, Any], names: list[str]) -> dict[str, str]:
    torch = engine("torch")
    model = torch.nn.Module()
    for name in names:
        parent = model
        *segments, leaf = name.split(".")
        for segment in segments:
            if segment not in parent._modules:
                parent.add_module(segment, torch.nn.Module())
            parent = parent._modules[segment]
        parent.add_module(leaf, torch.nn.Linear(16, 16, device="meta"))
    quantizer = engine("transformers.quantizers.auto").AutoHfQuantizer.from_config({**published})
    quantizer.validate_environment()
    quantizer._process_model_before_weight_loading(model)
    return {
        name: "quantized" if hasattr(model.get_submodule(name), "quantization_scheme") else "unquantized"
        for name in names
    }
