"""Watches tensors without data on their way from a stored name into a model's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_SCALAR = torch.ops.aten._local_scalar_dense.default
_EQUAL = torch.ops.aten.equal.default
_TO_COPY = torch.ops.aten._to_copy.default
_COPY = torch.ops.aten.copy_.default
_FILL = torch.ops.aten.fill_

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

    def named(self, name: str, tensor: Any) -> Any:
        """Give a tensor its stored name, and return it."""
        self._remember(tensor, frozenset({name}))
        return tensor

    def origins(self, tensor: Any) -> frozenset[str]:
        """Return the stored tensors that a tensor was made from."""
        return self._origins.get(_storage(tensor), frozenset())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operation and note where its inputs went."""
        kwargs = kwargs or {}
        if func in (_SCALAR, _EQUAL):
            return self._answer(func, args)
        if func is _TO_COPY and args[0].is_meta:
            kwargs = {**kwargs, "device": torch.device("meta")}
        written = [args[place] for place in _written(func) if place < len(args)]
        result = func(*args, **kwargs)
        inputs = list(_tensors((*args, *kwargs.values())))
        origins = self._origins_of(inputs)
        for target in written:
            self._write(func, target, inputs, origins)
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

    def _write(self, func: Any, target: Any, inputs: Iterable[Any], origins: frozenset[str]) -> None:
        name = self._of_storage.get(_storage(target))
        if name is None:
            self._remember(target, origins | self.origins(target))
            return
        if func.overloadpacket is _FILL and not origins:
            origins, self._read = self._read, frozenset()
        landing = self.landings[name]
        landing.sources.update(dict.fromkeys(sorted(origins)))
        region = (target.storage_offset(), tuple(target.shape), tuple(target.stride()))
        landing.regions[region] = target.numel()
        if func is _COPY:
            source = [tensor for tensor in inputs if tensor is not target][-1:]
            for tensor in source:
                if _nature(tensor.dtype) != _nature(target.dtype):
                    landing.mismatches.update(dict.fromkeys(origins, str(tensor.dtype).removeprefix("torch.")))

    def _remember(self, tensor: Any, origins: frozenset[str]) -> None:
        self._alive.append(tensor)  # a freed storage's address would be given to the next one
        self._origins[_storage(tensor)] = origins


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    """Iterate over the tensors among values and in lists of them, as operations take and give them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _storage(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


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
