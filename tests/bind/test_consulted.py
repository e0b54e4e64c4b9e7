"""Which of several quantization configs a matcher reads."""

from pathlib import Path
from typing import Any

import pytest
from checkpoints import write_checkpoint, write_json
from small import PLAIN

import qpolicy
from qpolicy.bind import World, no_policy
from qpolicy.bind.consulted import consulted

MIXED = {"quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.0.mlp.up_proj": {"quant_algo": "NVFP4"}}}


def opened(folder: Path, own: dict[str, Any] | None, **beside: dict[str, Any]) -> qpolicy.Checkpoint:
    model = {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1}
    tensors = {f"model.layers.0.mlp.{name}_proj.weight": PLAIN["weight"] for name in ("up", "down")}
    write_checkpoint(folder, tensors, model | ({"quantization_config": own} if own else {}))
    for name, whole in beside.items():
        write_json(folder / f"{name}.json", whole)
    return qpolicy.open_checkpoint(folder)


@pytest.mark.parametrize(
    ("engine", "place"),
    [("sglang", "hf_quant_config.json: quantization"), ("vllm", "config.json: quantization_config")],
)
def test_sglang_passes_over_a_mixed_config_without_a_word_on_the_cache(tmp_path: Path, engine: str, place: str) -> None:
    beside = {"quantization": {**MIXED, "exclude_modules": ["lm_head"], "kv_cache_quant_algo": "FP8"}}
    checkpoint = opened(tmp_path, {"quant_method": "modelopt", **MIXED}, hf_quant_config=beside)
    world = World(checkpoint, engine, draft=False)
    assert world.consulted is not None
    assert world.consulted.quantization_file == place
    assert world.config is not None
    assert [entry.text for entry in world.config.entries] == (["lm_head"] if engine == "sglang" else [])


def test_one_config_is_the_one(tmp_path: Path) -> None:
    checkpoint = opened(tmp_path, {"quant_method": "fp8"})
    assert consulted(checkpoint, "sglang") is checkpoint


def test_the_map_of_modelslim_decides(tmp_path: Path) -> None:
    weights = {f"model.layers.0.mlp.{name}_proj.weight": scheme for name, scheme in (("up", "W8A8"), ("down", "FLOAT"))}
    checkpoint = opened(tmp_path, None, quant_model_description={"model_quant_type": "W8A8", **weights})
    assert checkpoint.format == "modelslim"
    matcher = no_policy().bind(checkpoint, engine="modelslim")
    found = {name: matcher.decide(f"model.layers.0.mlp.{name}_proj").outcome for name in ("up", "down")}
    assert found == {"up": "quantized", "down": "unquantized"}
