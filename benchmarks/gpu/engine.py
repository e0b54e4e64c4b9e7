"""Starts SGLang in this process, loads a checkpoint through its own loader, and runs the layers one by one."""

from __future__ import annotations

import inspect
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpu import reference
from gpu.checkpoints import HIDDEN, INNER, Written
from gpu.table import Seen

Call = Callable[[], Any]


def start(device: str) -> None:
    """Create SGLang's process groups for this process alone, and publish default settings.

    Works with SGLang 0.5.16, whose context takes the settings themselves, and 0.5.23, which publishes them.
    """
    from sglang.srt import runtime_context as context  # noqa: PLC0415
    from sglang.srt.distributed import parallel_state  # noqa: PLC0415
    from sglang.srt.layers.moe.utils import initialize_moe_config  # noqa: PLC0415
    from sglang.srt.server_args import ServerArgs  # noqa: PLC0415

    settings = ServerArgs(model_path="dummy")
    backend = "nccl" if device == "cuda" else "gloo"
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()), RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
    if hasattr(context, "publish"):
        parallel_state.init_distributed_environment(world_size=1, rank=0, local_rank=0, backend=backend)
        context.publish(settings, role="test", ranks=context.SpawnRanks(world_rank=0))
        context.get_parallel().override_permanently(world_group=parallel_state._WORLD)
    else:
        context.get_context().set_server_args(settings)
        parallel_state.init_distributed_environment(world_size=1, rank=0, local_rank=0, backend=backend)
    parallel_state.initialize_model_parallel(backend=backend)
    initialize_moe_config(*[settings for _ in inspect.signature(initialize_moe_config).parameters])


def load(folder: Path, device: str) -> Any:
    """Build a checkpoint's model and load its weights, post-processing included, as SGLang does when it starts."""
    from sglang.srt.configs.device_config import DeviceConfig  # noqa: PLC0415
    from sglang.srt.configs.load_config import LoadConfig  # noqa: PLC0415
    from sglang.srt.configs.model_config import ModelConfig  # noqa: PLC0415
    from sglang.srt.model_loader.loader import DefaultModelLoader  # noqa: PLC0415

    config = ModelConfig(str(folder), dtype="bfloat16")
    loader = DefaultModelLoader(LoadConfig(load_format="safetensors"))
    return loader.load_model(model_config=config, device_config=DeviceConfig(device))


def run(model: Any, written: Written, device: str) -> Iterator[Seen]:
    """Run every layer of a loaded model once, and compare it with the reference."""
    with torch.no_grad():
        for number in written.layers:
            block = f"model.layers.{number}.mlp"
            for leaf, layer in model.blocks[str(number)].named_children():
                call, wanted = _case(leaf, layer, written.weights, block, device)
                found = call()  # once before it is watched: kernels are compiled at their first call
                kernels = kernels_of(call, device)
                yield _seen(f"{block}.{leaf}", layer, kernels, reference.relative_error(found, wanted))


def kernels_of(call: Call, device: str) -> tuple[str, ...]:
    """Return the names of the CUDA kernels that a call runs, each once, in order; none without a GPU."""
    if device != "cuda":
        return ()
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as watched:
        call()
        torch.cuda.synchronize()
    names = [event.name for event in watched.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return tuple(dict.fromkeys(name for name in names if not name.startswith(("Memcpy", "Memset"))))


def _case(leaf: str, layer: Any, weights: reference.Weights, block: str, device: str) -> tuple[Call, Tensor]:
    given = reference.inputs(INNER if leaf == "down_proj" else HIDDEN)
    wanted = {"gate_up_proj": reference.gate_up, "down_proj": reference.down, "experts": reference.experts}[leaf]
    call = partial(_experts if leaf == "experts" else _linear, layer, given.to(device))
    return call, wanted(weights, block, given)


def _linear(layer: Any, given: Tensor) -> Any:
    return layer(given)[0]


def _experts(layer: Any, given: Tensor) -> Any:
    from sglang.srt.layers.moe.topk import StandardTopKOutput  # noqa: PLC0415

    chosen, shares = (part.to(given.device) for part in reference.routing())
    # Experts may work in place, so each call is given a tensor of its own.
    return layer(given.clone(), StandardTopKOutput(shares, chosen, shares))


def _seen(name: str, layer: Any, kernels: tuple[str, ...], error: float) -> Seen:
    method, scheme = layer.quant_method, getattr(layer, "scheme", None)
    return Seen(
        name,
        type(layer).__name__,
        type(method).__name__,
        "" if scheme is None else type(scheme).__name__,
        type(method).__module__,
        kernels,
        error,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
