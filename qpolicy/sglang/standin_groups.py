"""Process groups of one real rank and any number of counted ones: no port is opened and nothing is sent."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

_CHOICES = (
    ("sglang.srt.layers.moe.utils", "initialize_moe_config"),
    ("sglang.srt.layers.quantization.fp8_utils", "initialize_fp8_gemm_config"),
    ("sglang.srt.layers.quantization.fp4_utils", "initialize_fp4_gemm_config"),
)
"""What a server calls before it builds a model, to choose kernels (sglang 0.5.23, srt/managers/scheduler.py)."""


def start(ranks: int) -> None:
    """Create SGLang's groups with this process as rank 0 of ``ranks``."""
    import torch  # noqa: PLC0415
    from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: PLC0415

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    # SGLang asks for gloo and NCCL groups by name; with ranks that do not exist neither could be joined.
    torch.distributed.new_group = _always(torch.distributed.new_group, backend="fake")
    _initialize(ranks)


def _initialize(ranks: int) -> None:
    from sglang.srt.distributed import parallel_state  # noqa: PLC0415
    from sglang.srt.runtime_context import SpawnRanks, get_parallel, publish, reset_context  # noqa: PLC0415
    from sglang.srt.server_args import ServerArgs  # noqa: PLC0415

    _connect_nothing(parallel_state.GroupCoordinator)
    parallel_state.init_distributed_environment(world_size=ranks, rank=0, local_rank=0, backend="fake")
    reset_context()
    arguments = ServerArgs(model_path="dummy", tp_size=ranks, ep_size=1, pp_size=1)
    publish(arguments, role="rehearsal", ranks=SpawnRanks(world_rank=0))
    get_parallel().override_permanently(world_group=parallel_state._WORLD)
    parallel_state.initialize_model_parallel(backend="fake")
    for module, name in _CHOICES:
        getattr(import_module(module), name, lambda: None)()


def _connect_nothing(coordinator: Any) -> None:
    """Make a group's constructor open no communicator: NCCL and shared memory would wait for the other ranks."""
    parameters = inspect.signature(coordinator.__init__).parameters
    unused = {name: False for name in parameters if name.startswith("use_")}
    coordinator.__init__ = _always(coordinator.__init__, **unused)


def _always(function: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    signature = inspect.signature(function)

    def called(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        bound.arguments.update(fixed)
        return function(*bound.args, **bound.kwargs)

    return called
