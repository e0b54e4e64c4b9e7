"""Notes every layer that a model builds: the name under which it asks, whom it asks, and what it gets."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from qpolicy.sglang.rehearse_job import Layer
from qpolicy.sglang.rehearse_kernel import kernel_of

KINDS = (
    ("moe", "sglang.srt.layers.moe.fused_moe_triton.layer", "FusedMoE"),
    ("lm_head", "sglang.srt.layers.vocab_parallel_embedding", "ParallelLMHead"),
    ("embedding", "sglang.srt.layers.vocab_parallel_embedding", "VocabParallelEmbedding"),
    ("attention", "sglang.srt.layers.radix_attention", "RadixAttention"),
    ("linear", "sglang.srt.layers.linear", "LinearBase"),
)
"""Kind, module and class of the layers that ask; the first class that fits a layer gives its kind."""


@dataclass(slots=True)
class Made:
    """A layer whose constructor ran.

    Attributes:
        module: The layer.
        name: The prefix that it was given.
        config: The quantization config that it was given, or None.
    """

    module: Any
    name: str
    config: Any


@contextmanager
def recording(advance: Callable[[int], None]) -> Iterator[list[Made]]:
    """Collect the layers that are built inside the block.

    Args:
        advance: Called with the number of layers whenever there is one more.
    """
    made: list[Made] = []
    with ExitStack() as undo:
        for _, module, name in KINDS:
            cls = _find(module, name)
            if "__init__" in vars(cls):
                undo.callback(setattr, cls, "__init__", vars(cls)["__init__"])
                cls.__init__ = _noting(cls.__init__, made, advance)
        yield made


def layers_of(model: Any, made: list[Made]) -> list[Layer]:
    """Return the layers of a finished model, those that ask nobody included, in the model's order."""
    by_id = {id(one.module): one for one in made}
    layers = []
    for path, module in model.named_modules():
        kind, one = _kind(module), by_id.get(id(module))
        if kind is None and not _is_matrix(module):
            continue
        asked = one is not None and one.config is not None
        layers.append(
            Layer(
                name=one.name if one is not None else "",
                path=path,
                kind=kind or "linear",
                layer=type(module).__name__,
                asked=asked,
                config=_name(one.config) if one is not None and asked else "",
                method=_name(getattr(module, "quant_method", None)),
                scheme=_name(getattr(module, "scheme", None)),
                kernel=kernel_of(module),
                sizes=_sizes(module),
                shared=kind == "moe" and bool(getattr(module, "num_fused_shared_experts", 0)),
            )
        )
    return layers


def _noting(original: Any, made: list[Made], advance: Callable[[int], None]) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def noting(self: Any, *args: Any, **options: Any) -> None:
        # A subclass's constructor may call its parent's; the first one that runs has the model's own arguments.
        if not made or made[-1].module is not self:
            given = signature.bind(self, *args, **options).arguments
            inner = given.get("kwargs", {})
            config = given.get("quant_config", inner.get("quant_config"))
            made.append(Made(self, given.get("prefix", inner.get("prefix", "")) or "", config))
            advance(len(made))
        original(self, *args, **options)

    return noting


def _find(module: str, name: str) -> Any:
    return getattr(__import__(module, fromlist=[name]), name)


def _kind(module: Any) -> str | None:
    return next((kind for kind, place, name in KINDS if isinstance(module, _find(place, name))), None)


def _is_matrix(module: Any) -> bool:
    """Whether a module of no class of SGLang's owns a weight that is stored as a matrix: nn.Linear, routers."""
    weight = module._parameters.get("weight")
    return weight is not None and weight.dim() == 2 and not isinstance(module, torch.nn.Embedding)


def _sizes(module: Any) -> tuple[int, ...]:
    sizes = getattr(module, "output_partition_sizes", None) or ()
    return tuple(int(size) for size in sizes) if len(sizes) > 1 else ()


def _name(value: Any) -> str:
    return "" if value is None else type(value).__name__
