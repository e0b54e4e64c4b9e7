"""Opening and checking a checkpoint of a terabyte, beside the reference reader of safetensors files.

    python benchmarks/bench_checkpoint.py [--runs N]

Writes sparse shards of a 61-layer, 256-expert model into a temporary folder (no disk space to speak of) and prints, for
each run and as a median, the CPU time of each step and its ratio to the peer's in the same run: the `safetensors`
package, written in Rust, opening every shard and listing its tensors' names, dtypes and shapes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from safetensors import safe_open

import qpolicy
from qpolicy.lint.run import run_checks

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from checkpoints import write_checkpoint

LAYERS, EXPERTS, SHARDS = 61, 256, 163
ATTENTION = ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj")
MLP = ("gate_proj", "up_proj", "down_proj")


def linears() -> Iterator[str]:
    for layer in range(LAYERS):
        stem = f"model.layers.{layer}"
        yield from (f"{stem}.self_attn.{leaf}" for leaf in ATTENTION)
        yield from (f"{stem}.mlp.shared_experts.{leaf}" for leaf in MLP)
        yield from (f"{stem}.mlp.experts.{expert}.{leaf}" for expert in range(EXPERTS) for leaf in MLP)


def write(folder: Path) -> None:
    tensors = {"lm_head.weight": ("BF16", (1024, 7168)), "model.embed_tokens.weight": ("BF16", (1024, 7168))}
    for name in linears():
        tensors[f"{name}.weight"] = ("F8_E4M3", (2048, 7168))
        tensors[f"{name}.weight_scale_inv"] = ("F32", (16, 56))
    tensors |= {f"model.layers.{layer}.mlp.gate.weight": ("BF16", (256, 7168)) for layer in range(LAYERS)}
    plain = ["lm_head", *(f"model.layers.{layer}.mlp.gate" for layer in range(LAYERS))]
    quantization = {"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": plain}
    config = {"architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": LAYERS}
    write_checkpoint(folder, tensors, {**config, "quantization_config": quantization}, shards=SHARDS)


def peer(folder: Path) -> int:
    count = 0
    for shard in sorted(folder.glob("*.safetensors")):
        with safe_open(shard, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - not a mapping
                part = file.get_slice(name)
                part.get_dtype(), part.get_shape()
                count += 1
    return count


def check(folder: Path, policy: qpolicy.Policy | None) -> int:
    return run_checks(qpolicy.open_checkpoint(folder), policy).layers


def cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        trust = qpolicy.parse("qpolicy 1\nwhen quantized_on_disk: quantized\n**: unquantized\n")
        steps: dict[str, Callable[[], object]] = {
            "safetensors: names, dtypes, shapes": lambda: peer(folder),
            "json: the index alone": lambda: json.loads((folder / "model.safetensors.index.json").read_text()),
            "qpolicy: open_checkpoint": lambda: qpolicy.open_checkpoint(folder),
            "qpolicy: open and check, no policy": lambda: check(folder, None),
            "qpolicy: open and check, two rules": lambda: check(folder, trust),
        }
        print(f"{peer(folder)} tensors in {SHARDS} shards; CPU seconds, median of {runs}")
        times = [{label: cpu(step) for label, step in steps.items()} for _ in range(runs)]
        first = next(iter(steps))
        for label in steps:
            seconds = statistics.median(one[label] for one in times)
            ratio = statistics.median(one[label] / one[first] for one in times)
            print(f"{label:40} {seconds:7.3f}  {ratio:6.2f}x the peer")


if __name__ == "__main__":
    main()
