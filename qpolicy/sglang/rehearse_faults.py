"""What a rehearsal found wrong: tensors without a parameter, parameters without a tensor, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from qpolicy.checkpoint import Checkpoint
from qpolicy.sglang.architectures_table import fold
from qpolicy.sglang.rehearse_job import Failure, Layer, Parameter, Rehearsed

_OPTIONAL = (".k_scale", ".v_scale", ".inv_freq")
"""Endings of tensors and parameters that a checkpoint need not have, or that an engine does not need."""

_NOT_FOLLOWED = "the model was built, but its load not followed: the dtypes and shapes of its tensors are not known"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, for all the layers that differ in their numbers only.

    Attributes:
        code: Its code.
        severity: How bad it is.
        message: What is wrong, in one sentence.
        modules: The stored modules, or parts of the model, that it is about.
    """

    code: Literal["QP402", "QP403", "QP404", "QP405", "QP406", "QP407"]
    severity: Literal["error", "warning", "info"]
    message: str
    modules: tuple[str, ...] = ()


def faults(result: Rehearsed, checkpoint: Checkpoint, *, draft: bool) -> tuple[Fault, ...]:
    """Return what is wrong with a rehearsed model, the worst first.

    Args:
        result: The rehearsal.
        checkpoint: The checkpoint that it was of.
        draft: Whether its draft was built.
    """
    if result.error is not None:
        return (Fault("QP405", "error", f"SGLang cannot build this model: {result.error}"),)
    found = [Fault("QP406", "error", problem) for problem in result.problems]
    if result.followed:
        found += [*_refused(result.failures), *_converted(result), *_unfilled(result, draft)]
        if any(parameter.sources for parameter in result.parameters):
            found += _skipped(result, checkpoint, draft)
    else:
        found.append(Fault("QP407", "info", _NOT_FOLLOWED))
    if result.note:
        found.append(Fault("QP407", "info", f"the load could not be followed to its end: {result.note}"))
    return tuple(found)


def _refused(failures: Iterable[Failure]) -> Iterator[Fault]:
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        groups.setdefault((fold(failure.tensor), fold(failure.error)), []).append(failure)
    for (tensor, _), group in groups.items():
        error = group[0].error
        if error.startswith("KeyError"):
            message = f"the model has no parameter for the stored {tensor}: {error}"
            yield Fault("QP402", "error", message, _modules(one.tensor for one in group))
        else:
            message = f"the stored {tensor} does not fit: {error}"
            yield Fault("QP404", "error", message, _modules(one.tensor for one in group))


def _converted(result: Rehearsed) -> Iterator[Fault]:
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for one in result.converted:
        key = (fold(one.tensor), one.dtype, fold(one.parameter), one.expected)
        groups.setdefault(key, []).append(one.tensor)
    for (tensor, dtype, parameter, expected), tensors in groups.items():
        message = f"the stored {tensor} is {dtype}, but the parameter {parameter} holds {expected}"
        yield Fault("QP404", "error", message, _modules(tensors))


def _unfilled(result: Rehearsed, draft: bool) -> Iterator[Fault]:
    kinds = {layer.path: layer for layer in result.layers}
    groups: dict[tuple[str, bool], list[Parameter]] = {}
    for parameter in result.parameters:
        if parameter.filled < 1 and not _may_stay_empty(parameter, kinds, draft):
            groups.setdefault((fold(parameter.name), parameter.filled > 0), []).append(parameter)
    for (name, part), group in groups.items():
        says = f"only {group[0].filled:.0%} of the parameter {name} is stored" if part else f"no tensor reaches {name}"
        message = f"{says} ({group[0].dtype}, shape {list(group[0].shape)})"
        yield Fault("QP403", "error", message, tuple(parameter.name for parameter in group))


def _may_stay_empty(parameter: Parameter, layers: dict[str, Layer], draft: bool) -> bool:
    layer = layers.get(parameter.name.rpartition(".")[0])
    if layer is not None and layer.kind in ("lm_head", "embedding"):
        # A draft is given its head and embeddings by the target; a vocabulary is padded with rows of nothing.
        return draft or parameter.filled > 0
    if layer is not None and layer.kind == "moe" and not parameter.loader:
        return True  # made by the method for what it computes from other parameters after loading
    return parameter.name.endswith(_OPTIONAL)


def _skipped(result: Rehearsed, checkpoint: Checkpoint, draft: bool) -> Iterator[Fault]:
    embedded = bool(checkpoint.draft_modules)
    own = [
        name
        for name in result.skipped
        if not name.endswith(_OPTIONAL)
        and (not embedded or checkpoint.is_draft_name(name) == draft)
        and not (draft and _is_shared(checkpoint, name))
    ]
    groups: dict[str, list[str]] = {}
    for name in own:
        groups.setdefault(fold(name), []).append(name)
    for name, tensors in groups.items():
        message = f"SGLang passes over the stored {name}: no parameter takes it, and it says nothing"
        yield Fault("QP402", "warning", message, _modules(tensors))


def _is_shared(checkpoint: Checkpoint, tensor: str) -> bool:
    """Whether a draft is given this by its target, also where the checkpoint holds a copy for the draft."""
    module = checkpoint.modules.get(tensor.rpartition(".")[0])
    return module is not None and module.kind in ("lm_head", "embedding")


def _modules(tensors: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tensor.rpartition(".")[0] for tensor in tensors))
