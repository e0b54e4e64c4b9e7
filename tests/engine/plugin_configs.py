"""Asks every config class of SGLang about every kind of layer, under every decision: ``plugin_configs.py RESULTS``."""

from __future__ import annotations

import copy
import importlib
import json
import pkgutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config_samples import EXPERTS, LINEAR, MADE_OF_OTHERS, SAMPLES, make, published
from engine_models import start

LAYERS = {
    "linear": LINEAR,
    "moe": EXPERTS,
    "lm_head": "lm_head",
    "embedding": "model.embed_tokens",
    "attention": "model.layers.0.self_attn.attn",
}
DRAFT = {kind: name.replace("model.layers", "mtp.layers").replace("model.e", "mtp.e") for kind, name in LAYERS.items()}
POLICIES = {
    "unquantized": "qpolicy 1\n**: unquantized\n",
    "quantized": "qpolicy 1\n**: quantized\n",
    "native": "qpolicy 1\n**: native\n",
    "error": 'qpolicy 1\n**: error "not this"\n',
    "drop": "qpolicy 1\ndrop mtp if draft\n",
}
STORED = {
    "lm_head.weight": "F8_E4M3",  # so that a dropped draft keeps its config for the head
    "model.embed_tokens.weight": "BF16",
    **{
        f"{root}.layers.0.{leaf}.weight": "BF16"
        for root in ("model", "mtp")
        for leaf in ("self_attn.o_proj", "mlp.experts.0.gate_proj", "mlp.experts.0.up_proj", "mlp.experts.0.down_proj")
    },
}


def layers() -> dict[str, Any]:
    """Construct one real layer of each kind, small and plain."""
    from sglang.srt.layers.linear import RowParallelLinear
    from sglang.srt.layers.moe.fused_moe_triton.layer import FusedMoE
    from sglang.srt.layers.radix_attention import RadixAttention
    from sglang.srt.layers.vocab_parallel_embedding import ParallelLMHead, VocabParallelEmbedding

    return {
        "linear": RowParallelLinear(128, 128, bias=False),
        "moe": FusedMoE(num_experts=2, top_k=1, hidden_size=128, intermediate_size=128, layer_id=0),
        "lm_head": ParallelLMHead(64, 128),
        "embedding": VocabParallelEmbedding(64, 128),
        "attention": RadixAttention(2, 32, 1.0, 2, 0),
    }


def checkpoint(folder: Path, name: str) -> Any:
    """Write a checkpoint of headers, and open it."""
    from qpolicy import open_checkpoint

    config = {
        "architectures": ["Qwen3_5ForCausalLM"],
        "num_hidden_layers": 1,
        "mtp_num_hidden_layers": 1,
        "tie_word_embeddings": False,
        "quantization_config": published(name),
    }
    (folder / "config.json").write_text(json.dumps(config))
    header, offset = {}, 0
    for tensor, dtype in STORED.items():
        size = 16 * (1 if dtype == "F8_E4M3" else 2)
        header[tensor] = {"dtype": dtype, "shape": [4, 4], "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(offset))
    return open_checkpoint(folder)


def asked(config: Any, layer: Any, prefix: str) -> dict[str, Any]:
    """Ask a config; tell the method's class or the error."""
    try:
        return {"method": type(config.get_quant_method(copy.copy(layer), prefix)).__name__}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def decided(config: Any, session: Any, layer: Any, prefix: str) -> dict[str, Any]:
    """Ask a wrapped config while a model is built, and tell too how often SGLang's own class was asked."""
    from qpolicy.sglang.building import Build, building
    from qpolicy.sglang.own_class import base_class
    from qpolicy.sglang.wrap import wrapped_copy

    base, count = base_class(config), 0
    original, own = base.get_quant_method, "get_quant_method" in vars(base)

    def counting(self: Any, *arguments: Any) -> Any:
        nonlocal count
        count += 1
        return original(self, *arguments)

    base.get_quant_method = counting
    try:
        with building(Build(session, uncompared="not the matter here")) as build:
            answer = asked(wrapped_copy(config, session), layer, prefix)
    finally:
        if own:
            base.get_quant_method = original
        else:
            del base.get_quant_method
    return answer | {"asked": count, "noted": len(build.asked)}


def study(name: str, examples: dict[str, Any]) -> dict[str, Any]:
    """Ask one class everything."""
    from qpolicy import parse
    from qpolicy.sglang.session import Session

    config, empty = make(name), make(name, excluding=False)
    kinds: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        stored = checkpoint(Path(folder), name)
        sessions = {key: Session(parse(text), stored, key == "drop") for key, text in POLICIES.items()}
        for kind, layer in examples.items():
            kinds[kind] = {"own": asked(config, layer, LAYERS[kind]), "empty": asked(empty, layer, LAYERS[kind])}
            for key, session in sessions.items():
                prefix = (DRAFT if key == "drop" else LAYERS)[kind]
                kinds[kind][key] = decided(config, session, layer, prefix)
        return kinds | {"shape": shape(name, config, sessions["unquantized"])}


def shape(name: str, config: Any, session: Any) -> dict[str, bool]:
    """Tell what a wrapped config still is."""
    from qpolicy.sglang.own_class import bare_copy, session_of
    from qpolicy.sglang.wrap import wrapped_copy

    cls, attributes = type(config), sorted(vars(config))
    wrapped = wrapped_copy(config, session)
    copies = [copy.copy(wrapped)]
    if name != "QuarkInt4Fp8Config":  # holds a progress bar, which cannot be copied deeply
        copies.append(copy.deepcopy(wrapped))
    return {
        "isinstance": isinstance(wrapped, cls),
        "same name": (type(wrapped).__name__, type(wrapped).__qualname__, type(wrapped).__module__)
        == (cls.__name__, cls.__qualname__, cls.__module__),
        "no new attribute": sorted(vars(wrapped)) == attributes,
        "original untouched": type(config) is cls,
        "copies ask": all(session_of(one) is session for one in copies),
        "dict does not ask": "get_quant_method" not in vars(wrapped),
        "bare": type(bare_copy(wrapped)) is cls,
        "one class": type(wrapped_copy(config, session)) is type(wrapped),
    }


def classes() -> Iterator[str]:
    """Import every quantization module, and yield the name of every config class."""
    import sglang.srt.layers.quantization as package
    from sglang.srt.layers.quantization.base_config import QuantizationConfig

    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    for name in [*names, "sglang.srt.models.inkling_common.quantization.config"]:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # a kernel package that a CPU does not have
    waiting = [QuantizationConfig]
    while waiting:
        for found in waiting.pop().__subclasses__():
            waiting.append(found)
            yield found.__name__


def forward() -> dict[str, float]:
    """Build a linear layer that the policy leaves plain, and compare its output with torch's."""
    import torch
    from sglang.srt.layers.linear import RowParallelLinear

    from qpolicy import parse
    from qpolicy.sglang.building import Build, building
    from qpolicy.sglang.session import Session
    from qpolicy.sglang.wrap import wrapped

    with tempfile.TemporaryDirectory() as folder:
        session = Session(parse(POLICIES["unquantized"]), checkpoint(Path(folder), "Fp8Config"), False)
        config = wrapped(make("Fp8Config", excluding=False), session)
        with building(Build(session, config=config)):
            layer = RowParallelLinear(
                64, 32, bias=False, params_dtype=torch.bfloat16, quant_config=config, prefix=LINEAR
            )
    torch.manual_seed(1)
    weight, inputs = torch.randn(32, 64).bfloat16(), torch.randn(5, 64).bfloat16()
    layer.weight.weight_loader(layer.weight, weight)
    outputs, _ = layer(inputs)
    return {
        "difference": float((outputs - inputs @ weight.T).abs().max()),
        "size": float(outputs.abs().max()),
        "plain": float(type(layer.quant_method).__name__ == "UnquantizedLinearMethod"),
    }


def main() -> None:
    import torch

    start()
    torch.cuda.get_device_capability = lambda *_: (9, 0)  # some classes ask; nothing is computed on a device
    examples = layers()
    studies = {}
    for name in (*SAMPLES, MADE_OF_OTHERS):
        studies[name] = study(name, examples)
    Path(sys.argv[1]).write_text(
        json.dumps({"studies": studies, "classes": sorted(set(classes())), "forward": forward()})
    )


if __name__ == "__main__":
    main()
