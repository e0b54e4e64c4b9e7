"""Answers for every question that SGLang asks about a GPU while it builds a model, and a place for its tensors."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from qpolicy.sglang.standin import Device


_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter, int, float, bool, type(None)})
"""Types of arguments that never name a device."""

_CUDA = torch.Tensor.cuda
_EAGER = (
    (torch, "tensor"),
    (torch, "as_tensor"),
    (torch, "asarray"),
    (torch.Tensor, "to"),
    (torch.Tensor, "cuda"),
)
"""The functions that look for a GPU by themselves when they are given its device."""

_active: list[Any] = []


class Nothing:
    """Stands for a stream or an event: can be entered, and does nothing when called upon."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        self.cuda_stream = self.stream_id = 0

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *_exception: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_options: None


class OffDevice(TorchFunctionMode):  # type: ignore[misc] # Any where PyTorch is not installed
    """Puts tensors meant for a GPU on the CPU, or on the meta device when they are large or uninitialised."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace the device of a call."""
        return _off_gpu(func, args, kwargs)


def start(device: Device) -> None:
    """Make PyTorch answer as on a machine with one such GPU."""
    properties = types.SimpleNamespace(
        name=device.name,
        major=device.capability[0],
        minor=device.capability[1],
        multi_processor_count=device.processors,
        total_memory=device.memory,
        warp_size=32,
        L2_cache_size=50 << 20,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448,
        shared_memory_per_multiprocessor=233472,
        regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048,
    )
    answers = {
        "is_available": True,
        "is_initialized": True,
        "device_count": 8,
        "current_device": 0,
        "get_device_capability": device.capability,
        "get_device_name": device.name,
        "get_device_properties": properties,
        "get_arch_list": [f"sm_{device.capability[0]}{device.capability[1]}"],
        "mem_get_info": (device.memory * 7 // 8, device.memory),
        "memory_allocated": 0,
        "memory_reserved": 0,
        "is_current_stream_capturing": False,
        "set_device": None,
        "synchronize": None,
        "empty_cache": None,
        "_lazy_init": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, _answering(answer))
    for name in ("Stream", "Event", "CUDAGraph"):
        setattr(torch.cuda, name, Nothing)
    for name in ("current_stream", "default_stream", "stream", "device"):
        setattr(torch.cuda, name, lambda *_args, **_options: Nothing())
    _active.append(OffDevice().__enter__())


@contextmanager
def aside() -> Iterator[None]:
    """Replace :class:`OffDevice` inside a block in which something else puts every operation on another device.

    A mode takes part in every call. Only these calls need it: they look for a GPU before any operation runs.
    """
    mode = _active.pop() if _active else None
    with ExitStack() as undo:
        if mode is not None:
            mode.__exit__(None, None, None)
            undo.callback(lambda: _active.append(mode.__enter__()))
        for owner, name in _EAGER:
            undo.enter_context(_shadowed(owner, name))
        yield


@contextmanager
def _shadowed(owner: Any, name: str) -> Iterator[None]:
    original, own = getattr(owner, name), name in vars(owner)
    setattr(owner, name, lambda *args, **options: _off_gpu(original, args, options))
    try:
        yield
    finally:
        setattr(owner, name, original) if own else delattr(owner, name)


def _off_gpu(func: Any, args: Any, kwargs: Any) -> Any:
    """Call a function with another device where it would have been a GPU."""
    if func is _CUDA:
        return args[0]
    if kwargs and _on_gpu(kwargs.get("device")):
        kwargs = {**kwargs, "device": "meta" if getattr(func, "__name__", "").startswith("empty") else "cpu"}
    if not _PLAIN.issuperset(map(type, args)) and any(_names_gpu(one) for one in args):
        args = tuple("cpu" if _names_gpu(one) else one for one in args)
    return func(*args, **(kwargs or {}))


def _answering(answer: Any) -> Any:
    return lambda *_args, **_options: answer


def _on_gpu(device: Any) -> bool:
    # An integer names a GPU; True and False are integers too, and name none.
    return _names_gpu(device) or (isinstance(device, int) and not isinstance(device, bool))


def _names_gpu(value: Any) -> bool:
    if isinstance(value, torch.device):
        return str(value.type) == "cuda"
    return isinstance(value, str) and value.split(":")[0] == "cuda"
