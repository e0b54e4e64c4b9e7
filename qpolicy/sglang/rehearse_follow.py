"""Follows a model's own ``load_weights`` with tensors that have a name, a dtype and a shape, but no data."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import torch

from qpolicy.sglang.rehearse_dispatch import Watch, views_unwatched
from qpolicy.sglang.rehearse_job import Converted, Failure, Parameter, Rehearsed
from qpolicy.sglang.rehearse_steps import Steps
from qpolicy.sglang.standin_cuda import aside

Header = tuple[str, str, tuple[int, ...]]

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8_e4m3": torch.float8_e4m3fn,
    "f8_e5m2": torch.float8_e5m2,
    "f8_e8m0": torch.float8_e8m0fnu,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "bool": torch.bool,
}
"""The dtypes of safetensors headers in lower case; fp4 is packed two to a byte and stored as ``u8``."""

_SILENT = Steps()


@dataclass(slots=True)
class _Feed:
    """The tensors still to be given, and what became of the ones that were."""

    headers: Sequence[Header]
    watch: Watch
    tell: Steps
    draft_index: int | None = None
    position: dict[str, int] = field(default_factory=dict)
    current: str | None = None
    failed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.position = {name: place for place, (name, _, _) in enumerate(self.headers)}

    def tensors(self, headers: Sequence[Header]) -> Iterator[tuple[str, Any]]:
        for name, dtype, shape in headers:
            self.current = name
            self.tell("tensors followed", self.position[name] + 1, len(self.headers))
            yield name, self.watch.named(name, DTYPES.get(dtype, torch.uint8), shape)
        self.current = None

    def kept(self, headers: Sequence[Header]) -> Iterator[tuple[str, Any]]:
        """Yield what the loader passes on: of several draft layers, it keeps the one that is built."""
        tensors = self.tensors(headers)
        if self.draft_index is None:
            return tensors
        from sglang.srt.model_loader.loader import DefaultModelLoader  # noqa: PLC0415

        filtered: Iterator[tuple[str, Any]] = DefaultModelLoader._filter_mtp_weights(tensors, "", self.draft_index)
        return filtered


def follow(
    model: Any,
    headers: Sequence[Header],
    result: Rehearsed,
    *,
    limit: float,
    draft_index: int | None = None,
    tell: Steps = _SILENT,
) -> None:
    """Feed every header to the model and note which parameter each tensor reaches.

    A tensor that stops the load is noted, and the load goes on without it.

    Args:
        model: The model, on the meta device.
        headers: Name, dtype and shape of every stored tensor.
        result: Where to write parameters, failures, conversions and skipped tensors.
        limit: Seconds after which the rest is left out, with a note.
        draft_index: Which of several draft layers the model is.
        tell: Told how many tensors have been followed, out of how many.
    """
    parameters = dict(model.named_parameters(remove_duplicate=True))
    before = dict(parameters)
    watch = Watch(parameters)
    feed = _Feed(headers, watch, tell, draft_index)
    if hasattr(model, "post_load_weights"):
        model.post_load_weights = lambda *_args, **_options: None
    end, rest = time.monotonic() + limit, list(headers)
    with _no_threads(), aside(), views_unwatched(), torch.no_grad():
        while rest:
            if time.monotonic() > end:
                result.note = f"{len(rest)} tensors were not followed: the time limit was reached"
                break
            rest = _run(model, feed, rest, result)
    _conclude(model, before, feed, result)


def _run(model: Any, feed: _Feed, headers: Sequence[Header], result: Rehearsed) -> list[Header]:
    """Let the model load; return the headers to go on with after a tensor that stopped it."""
    try:
        with feed.watch:
            loaded = model.load_weights(feed.kept(headers))
            if hasattr(loaded, "__next__"):
                list(loaded)
    except Exception as error:
        culprit = _culprit(error.__traceback__, feed)
        if culprit is None or culprit in feed.failed:
            result.note = f"the end of loading could not be followed: {_told(error)}"
            return []
        feed.failed[culprit] = _told(error)
        return _after(feed, headers, culprit)
    return []


def _after(feed: _Feed, headers: Sequence[Header], culprit: str) -> list[Header]:
    """Return what was not given yet, and the culprit's neighbours that wait for a partner inside the loader."""
    landed = _landed(feed.watch)
    streaming = feed.current == culprit
    place = next((number for number, header in enumerate(headers) if header[0] == culprit), len(headers))
    parent = culprit.rpartition(".")[0].rpartition(".")[0] + "."
    waiting = [
        header
        for header in headers[:place]
        if header[0] not in landed and header[0] not in feed.failed and (not streaming or header[0].startswith(parent))
    ]
    return [*waiting, *(header for header in headers[place + 1 :] if header[0] not in landed | feed.failed.keys())]


def _culprit(traceback: TracebackType | None, feed: _Feed) -> str | None:
    """Return the stored tensor that an exception is about: the one in the innermost frame that holds any."""
    found = None
    while traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            if isinstance(value, torch.Tensor):
                origins = feed.watch.origins(value)
                if origins:
                    found = max(origins, key=lambda name: feed.position.get(name, -1))
        traceback = traceback.tb_next
    return found or feed.current


def _landed(watch: Watch) -> set[str]:
    return {name for landing in watch.landings.values() for name in landing.sources}


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:600]


def _conclude(model: Any, before: dict[str, Any], feed: _Feed, result: Rehearsed) -> None:
    result.followed = True
    landed = _landed(feed.watch)
    now = dict(model.named_parameters(remove_duplicate=True))
    for name, parameter in before.items():
        landing = feed.watch.landings[name]
        replaced = feed.watch.origins(now.get(name, parameter))
        landed |= replaced
        size = max(parameter.numel(), 1)
        filled = 1.0 if replaced else min(1.0, sum(landing.regions.values()) / size)
        dtype = str(parameter.dtype).removeprefix("torch.")
        sources = tuple(landing.sources) or tuple(sorted(replaced))
        loader = hasattr(parameter, "weight_loader")
        result.parameters.append(Parameter(name, dtype, tuple(parameter.shape), filled, sources, loader))
        result.converted += [Converted(tensor, own, name, dtype) for tensor, own in landing.mismatches.items()]
    result.failures = [Failure(name, error) for name, error in feed.failed.items()]
    if not result.note:
        result.skipped = [name for name, _, _ in feed.headers if name not in landed and name not in feed.failed]


def _here(_pool: Any, fn: Callable[..., Any], /, *args: Any, **options: Any) -> concurrent.futures.Future[Any]:
    """Run what is submitted to a pool at once, in this thread: watching does not reach into others."""
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()
    future.set_result(fn(*args, **options))
    return future


@contextmanager
def _no_threads() -> Iterator[None]:
    pool: Any = concurrent.futures.ThreadPoolExecutor
    original = pool.submit
    pool.submit = _here
    try:
        yield
    finally:
        pool.submit = original
