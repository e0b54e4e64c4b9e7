"""Watches tensors without data on their way from a stored name into a model's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

_SCALAR = torch.ops.aten._local_scalar_dense.default
_EQUAL = torch.ops.aten.equal.default
_TO_COPY = torch.ops.aten._to_copy.default
_COPY = torch.ops.aten.copy_.default
_FILL = torch.ops.aten.fill_
_EMPTY = (torch.ops.aten.empty, torch.ops.aten.empty_like, torch.ops.aten.empty_strided, torch.ops.aten.new_empty)
_META = torch.device("meta")
_VIEWS = (
    "alias",
    "as_strided",
    "expand",
    "permute",
    "select.int",
    "slice.Tensor",
    "split.Tensor",
    "squeeze",
    "squeeze.dim",
    "t",
    "transpose.int",
    "unbind.int",
    "unsqueeze",
    "view",
    "view.dtype",
)
"""Views that loaders take by the hundred thousand. A tensor is known by its storage, which a view shares."""

Region = tuple[int, tuple[int, ...], tuple[int, ...]]


@dataclass(slots=True)
class Landing:
    """What reached one parameter.

    Attributes:
        sources: The stored tensors, in order.
        regions: The written parts of its storage with their sizes.
        mismatches: Stored tensor and its dtype, where that is of another kind than the parameter's.
    """

    sources: dict[str, None] = field(default_factory=dict)
    regions: dict[Region, int] = field(default_factory=dict)
    mismatches: dict[str, str] = field(default_factory=dict)


class Watch(TorchDispatchMode):  # type: ignore[misc] # Any where PyTorch is not installed
    """Follows every tensor that was :meth:`named` through views, copies and concatenations.

    Args:
        parameters: The model's parameters by their path.
    """

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        super().__init__()
        self.landings: dict[str, Landing] = {name: Landing() for name in parameters}
        self._of_storage = {_storage(parameter): name for name, parameter in parameters.items()}
        self._origins: dict[int, frozenset[str]] = {}
        self._alive: list[Any] = []
        self._read: frozenset[str] = frozenset()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing here is ever compiled, and PyTorch's guard against it takes longer than an operation."""
        return False

    def named(self, name: str, dtype: Any, shape: tuple[int, ...]) -> Any:
        """Return a new tensor without data that goes by a stored name."""
        with no_dispatch():
            tensor = torch.empty(shape, dtype=dtype, device="meta")
        self._remember(tensor, frozenset({name}))
        return tensor

    def origins(self, tensor: Any) -> frozenset[str]:
        """Return the stored tensors that a tensor was made from."""
        return self._origins.get(_storage(tensor), frozenset())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation and note where its inputs went."""
        if _is_view(func):
            return func(*args, **(kwargs or {}))  # shares the storage by which it is known
        if func is _COPY:
            target, source = args[:2]
            func(target.to(_META) if source.is_meta and not target.is_meta else target, source)
            self._copy(target, source)
            return target
        if func in (_SCALAR, _EQUAL):
            return self._answer(func, args)
        kwargs = _off_device(func, args, kwargs or {})
        written = [args[place] for place in _written(func) if place < len(args)]
        result = func(*args, **kwargs)
        inputs = list(_tensors((*args, *kwargs.values())))
        origins = self._origins_of(inputs)
        for target in written:
            self._write(target, self._filled_with(func) or origins)
        if origins and not written:
            for tensor in _tensors((result,)):
                if _storage(tensor) not in self._of_storage:
                    self._remember(tensor, origins)
        return result

    def _origins_of(self, tensors: Iterable[Any]) -> frozenset[str]:
        every = [origins for tensor in tensors if (origins := self.origins(tensor))]
        return every[0] if len(every) == 1 else frozenset().union(*every)

    def _answer(self, func: Any, args: Any) -> Any:
        """Answer for a number that a tensor without data does not have; what is filled with it came from there."""
        tensor = args[0]
        self._read = self.origins(tensor)
        if not tensor.is_meta:
            return func(*args)
        if func is _EQUAL or tensor.dtype is torch.bool:
            return True
        return 1.0 if tensor.dtype.is_floating_point else 1

    def _filled_with(self, func: Any) -> frozenset[str]:
        """Return the origins of the number that was read last, where an operation fills with a number."""
        if func.overloadpacket is not _FILL:
            return frozenset()
        origins, self._read = self._read, frozenset()
        return origins

    def _copy(self, target: Any, source: Any) -> None:
        origins = self.origins(source)
        landing = self._write(target, origins)
        if landing is not None and source.dtype is not target.dtype and _nature(source.dtype) != _nature(target.dtype):
            landing.mismatches.update(dict.fromkeys(origins, str(source.dtype).removeprefix("torch.")))

    def _write(self, target: Any, origins: frozenset[str]) -> Landing | None:
        """Note what was written; return the landing of the parameter that was written to, if it was one."""
        name = self._of_storage.get(_storage(target))
        if name is None:
            self._remember(target, origins | self.origins(target))
            return None
        landing = self.landings[name]
        landing.sources.update(dict.fromkeys(sorted(origins) if len(origins) > 1 else origins))
        landing.regions[target.storage_offset(), target.shape, target.stride()] = target.numel()
        return landing

    def _remember(self, tensor: Any, origins: frozenset[str]) -> None:
        self._alive.append(tensor)  # a freed storage's address would be given to the next one
        self._origins[_storage(tensor)] = origins


@contextmanager
def views_unwatched() -> Iterator[None]:
    """Let the operations of :data:`_VIEWS` run inside the block without any Python code that watches."""
    with torch.library._scoped_library("aten", "IMPL") as library:
        for name in _VIEWS:
            library.impl(name, torch.library.fallthrough_kernel, "Python")
        yield


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    """Iterate over the tensors among values and in lists of them, as operations take and give them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


def _off_device(func: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keep tensors without data where they are, and make on the CPU what was meant for a GPU."""
    if func is _TO_COPY and args[0].is_meta:
        return {**kwargs, "device": _META}
    device = kwargs.get("device")
    if device is None or device.type != "cuda":
        return kwargs
    return {**kwargs, "device": _META if func.overloadpacket in _EMPTY else torch.device("cpu")}


@cache
def _is_view(func: Any) -> bool:
    """Whether what an operation returns always shares the storage of its first argument, and nothing is written."""
    arguments = func._schema.arguments
    shares = bool(arguments) and arguments[0].alias_info is not None
    return shares and not _written(func) and not func._can_decompose()


@cache
def _written(func: Any) -> tuple[int, ...]:
    """Return the positions of the arguments that an operation writes to."""
    arguments = func._schema.arguments
    return tuple(place for place, one in enumerate(arguments) if one.alias_info is not None and one.alias_info.is_write)


@cache
def _nature(dtype: Any) -> str:
    """Return the kind of a dtype: converting inside one kind keeps the meaning of the values."""
    if not dtype.is_floating_point:
        return "integer of one byte" if dtype.itemsize == 1 else "integer"
    return "float" if dtype.itemsize > 1 else str(dtype)
