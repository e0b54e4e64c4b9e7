"""How long a rehearsal of 61 layers with 256 experts takes, beside the least that it could take.

    python benchmarks/bench_rehearse.py [--layers N] [--experts N]

Needs SGLang, as `qpolicy sglang rehearse` does. Writes the headers of a synthetic block fp8 checkpoint into a temporary
folder (sparse files, no disk space to speak of) and prints processor seconds and ratios from one and the same process.
The peers are what SGLang does by itself: importing its models and building the model class on the meta device, without
the plugin, and its own `load_weights` fed with tensors without data that nobody watches.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import qpolicy
from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_steps import Steps

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from checkpoints import write_checkpoint

HIDDEN, INNER, EXPERT, HEADS, RANK_Q, RANK_KV, NOPE, ROPE, VOCABULARY = (
    7168,
    18432,
    2048,
    128,
    1536,
    512,
    128,
    64,
    32768,
)
DENSE = 3

Headers = dict[str, tuple[str, tuple[int, ...]]]


def config(layers: int, experts: int) -> dict[str, Any]:
    return {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "torch_dtype": "bfloat16",
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "moe_intermediate_size": EXPERT,
        "num_hidden_layers": layers,
        "first_k_dense_replace": DENSE,
        "moe_layer_freq": 1,
        "n_routed_experts": experts,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "n_group": 8,
        "topk_group": 4,
        "topk_method": "noaux_tc",
        "scoring_func": "sigmoid",
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "q_lora_rank": RANK_Q,
        "kv_lora_rank": RANK_KV,
        "qk_nope_head_dim": NOPE,
        "qk_rope_head_dim": ROPE,
        "v_head_dim": NOPE,
        "vocab_size": VOCABULARY,
        "quantization_config": {
            "quant_method": "fp8",
            "fmt": "e4m3",
            "activation_scheme": "dynamic",
            "weight_block_size": [128, 128],
        },
    }


def headers(layers: int, experts: int) -> Headers:
    found: Headers = {}
    for layer in range(layers):
        stem = f"model.layers.{layer}"
        attention = {
            "q_a_proj": (RANK_Q, HIDDEN),
            "q_b_proj": (HEADS * (NOPE + ROPE), RANK_Q),
            "kv_a_proj_with_mqa": (RANK_KV + ROPE, HIDDEN),
            "kv_b_proj": (HEADS * 2 * NOPE, RANK_KV),
            "o_proj": (HIDDEN, HEADS * NOPE),
        }
        for name, shape in attention.items():
            found |= linear(f"{stem}.self_attn.{name}", *shape)
        norms = {"input_layernorm": HIDDEN, "post_attention_layernorm": HIDDEN}
        norms |= {"self_attn.q_a_layernorm": RANK_Q, "self_attn.kv_a_layernorm": RANK_KV}
        found |= {f"{stem}.{name}.weight": ("BF16", (size,)) for name, size in norms.items()}
        found |= mlp(f"{stem}.mlp", INNER) if layer < DENSE else moe(f"{stem}.mlp", experts)
    plain = {"model.embed_tokens": (VOCABULARY, HIDDEN), "lm_head": (VOCABULARY, HIDDEN), "model.norm": (HIDDEN,)}
    return found | {f"{name}.weight": ("BF16", shape) for name, shape in plain.items()}


def linear(name: str, outputs: int, inputs: int) -> Headers:
    blocks = (-(-outputs // 128), -(-inputs // 128))
    return {f"{name}.weight": ("F8_E4M3", (outputs, inputs)), f"{name}.weight_scale_inv": ("F32", blocks)}


def mlp(stem: str, inner: int) -> Headers:
    into = linear(f"{stem}.gate_proj", inner, HIDDEN) | linear(f"{stem}.up_proj", inner, HIDDEN)
    return into | linear(f"{stem}.down_proj", HIDDEN, inner)


def moe(stem: str, experts: int) -> Headers:
    found = mlp(f"{stem}.shared_experts", EXPERT)
    found |= {
        f"{stem}.gate.weight": ("BF16", (experts, HIDDEN)),
        f"{stem}.gate.e_score_correction_bias": ("F32", (experts,)),
    }
    for expert in range(experts):
        found |= mlp(f"{stem}.experts.{expert}", EXPERT)
    return found


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def unwatched(given: tuple[tuple[str, str, tuple[int, ...]], ...]) -> Callable[..., None]:
    """What takes the place of following: the model's own loading, with tensors that nobody watches."""
    torch, follow = import_module("torch"), import_module("qpolicy.sglang.rehearse_follow")
    aside = import_module("qpolicy.sglang.standin_cuda").aside

    def tensors() -> Iterator[tuple[str, Any]]:
        for name, dtype, shape in given:
            yield name, torch.empty(shape, dtype=follow.DTYPES[dtype], device="meta")

    def load(model: Any, *_args: Any, **_options: Any) -> None:
        model.post_load_weights = lambda *_args, **_options: None
        with follow._no_threads(), aside(), torch.no_grad():
            model.load_weights(tensors())

    return load


def measured(folder: Path) -> tuple[float, dict[str, float], Rehearsed]:
    """Return the seconds of importing and of each way to rehearse, and the last rehearsal."""
    checkpoint = qpolicy.open_checkpoint(folder)
    stored = [tensor for module in checkpoint.modules.values() for tensor in module.tensors.values()]
    given = tuple((tensor.name, str(tensor.dtype), tensor.shape or ()) for tensor in stored)
    standin, worker = import_module("qpolicy.sglang.standin"), import_module("qpolicy.sglang.rehearse_worker")
    standing: list[Any] = []
    importing = seconds(lambda: (standing.append(standin.stand_in()), worker._import_everything()))
    build = import_module("qpolicy.sglang.rehearse_build")
    results: list[Rehearsed] = []

    def rehearse(tensors: Any) -> float:
        job = Job(str(folder), tensors=tensors, limit=600.0)
        return seconds(lambda: results.append(build.rehearse(job, standing[0], Steps())))

    times = {"build": rehearse(()), "followed": rehearse(given)}
    watching, build.follow = build.follow, unwatched(given)
    times["unwatched"] = rehearse(given)
    build.follow = watching
    return importing, times, results[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=61)
    parser.add_argument("--experts", type=int, default=256)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tensors = headers(options.layers, options.experts)
        write_checkpoint(Path(name), tensors, config(options.layers, options.experts), shards=32)
        importing, times, result = measured(Path(name))
    assert result.error is None, result.error
    assert not result.failures
    assert not result.skipped
    peer, loading = importing + times["build"], times["unwatched"] - times["build"]
    following = times["followed"] - times["build"]
    print(f"{options.layers} layers, {options.experts} experts, {len(tensors):,} tensors; processor seconds")
    print(f"{'SGLang: import, build on meta':40} {peer:7.2f}   1.00x")
    print(f"{'SGLang: its own loading, unwatched':40} {loading:7.2f}   {loading / peer:.2f}x")
    print(f"{'qpolicy: following the load':40} {following:7.2f}   {following / loading:.2f}x the unwatched loading")
    total = peer + following
    print(f"{'qpolicy: the whole rehearsal':40} {total:7.2f}   {total / peer:.2f}x import and build", end="")
    print(f", {total / (peer + loading):.2f}x with loading")


if __name__ == "__main__":
    main()
