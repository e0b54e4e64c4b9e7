"""``qpolicy sglang rehearse``: builds the real model class without weights, and follows its loading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from qpolicy.bind import Matcher, Policy, no_policy
from qpolicy.bind.draft_layers import built_by_layer, draft_layers
from qpolicy.bind.files import policy_path
from qpolicy.bind.names_table import draft_row
from qpolicy.checkpoint import FUSED, Checkpoint, open_checkpoint
from qpolicy.cli import options
from qpolicy.cli.bar import bar
from qpolicy.cli.failure import CLEAN, FOUND
from qpolicy.cli.policies import named_policy, policy_for
from qpolicy.cli.rehearsed import Rehearsal, as_json, as_text
from qpolicy.cli.terminal import write
from qpolicy.errors import QPolicyError
from qpolicy.lint.finding import Finding
from qpolicy.lint.rehearsal import CODES
from qpolicy.lint.reporters.checked import is_clean
from qpolicy.sglang.rehearse_faults import Fault, faults
from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_run import run_jobs
from qpolicy.sglang.rehearse_steps import Step
from qpolicy.sglang.standin import DEVICES, Standing, require_engine

TIMEOUT = 600.0


@click.command("rehearse")
@options.checkpoint
@click.option("--draft", is_flag=True, help="Build the speculative draft that the checkpoint holds, or is.")
@click.option(
    "--draft-layer", type=click.IntRange(min=0), help="Which of several draft layers to build; else the first."
)
@options.policy
@click.option("--tp", "ranks", type=click.IntRange(min=1), default=1, show_default=True, help="Tensor-parallel size.")
@click.option(
    "--as",
    "device",
    type=click.Choice([*DEVICES, "cpu"]),
    default="sm90",
    show_default=True,
    help="The GPU whose kernels SGLang is to choose for; cpu takes its CPU path.",
)
@click.option("--full", is_flag=True, help="One row for each layer, numbered layers not folded together.")
@options.output_format("text", "json")
def command(
    checkpoint: str,
    draft: bool,
    draft_layer: int | None,
    policy: str | None,
    ranks: int,
    device: str,
    full: bool,
    format_: str,
) -> int:
    """Build the model class that SGLang builds for CKPT, on no device, and follow its own loading with empty tensors.

    Lists every layer with its decision and with the method, scheme and kernel that SGLang gives it, then each stored
    tensor that finds no parameter, each parameter that finds no tensor, and each shape or dtype that does not fit. With
    a policy, the plugin is active. Needs an installed SGLang, but no GPU, and reads no weights.
    """
    require_engine()
    opened = open_checkpoint(checkpoint)
    chosen = policy_for(opened, named_policy(policy))
    layer = _layer(opened, draft, draft_layer)
    job = Job(
        str(Path(checkpoint).resolve()),
        draft,
        _headers(opened),
        layer,
        plugin=chosen is not None,
        policy=None if policy is None else str(policy_path(policy)),
        limit=TIMEOUT,
    )
    with bar(f"rehearsing {checkpoint}") as update:
        standing, (result,) = _run(job, device, ranks, lambda step: update(step.doing, step.done, step.total))
    if draft:
        _require_draft(opened, result)
    found = tuple(_finding(fault, opened) for fault in faults(result, opened, draft=draft))
    rehearsal = Rehearsal(checkpoint, draft, standing, result, _matcher(opened, chosen, job, result), found)
    write(as_json(rehearsal) if format_ == "json" else as_text(rehearsal, full=full))
    return CLEAN if is_clean(found) else FOUND


def _run(job: Job, device: str, ranks: int, watch: Callable[[Step], None]) -> tuple[Standing, list[Rehearsed]]:
    if device == "cpu":
        return run_jobs([job], ranks=ranks, path="cpu", watch=watch)
    return run_jobs([job], device=device, ranks=ranks, watch=watch)


def _headers(checkpoint: Checkpoint) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    tensors = (tensor for module in checkpoint.modules.values() for tensor in module.tensors.values())
    return tuple(
        (tensor.name, tensor.dtype, tensor.shape)
        for tensor in tensors
        if tensor.dtype is not None and tensor.shape is not None
    )


def _require_draft(checkpoint: Checkpoint, result: Rehearsed) -> None:
    """Refuse to call a target a draft, as SGLang builds one for an architecture that it has no draft class for.

    Raises:
        QPolicyError: The checkpoint neither holds a draft that SGLang knows nor is one.
    """
    row = draft_row("sglang", checkpoint.architectures)
    if row is None and result.architecture in checkpoint.architectures:
        raise QPolicyError(
            f"{checkpoint.path}: SGLang has no draft class for {result.architecture}; where it serves as the draft of "
            f"another model, it is built as a target is: leave out --draft"
        )


def _layer(checkpoint: Checkpoint, draft: bool, chosen: int | None) -> int | None:
    """Return the layer to build of a draft that is built layer by layer; None for one that is built as a whole.

    Raises:
        QPolicyError: A layer was chosen of something that has no layers to choose from, or not this one.
    """
    row = draft_row("sglang", checkpoint.architectures) if draft else None
    layers = draft_layers(row, checkpoint) if built_by_layer(row) else ()
    if chosen is None:
        return layers[0] if layers else None
    if not layers:
        what = "the draft of this checkpoint is built as a whole" if draft else "it belongs to --draft"
        raise QPolicyError(f"--draft-layer {chosen}: {what}; leave it out")
    if checkpoint.modules and chosen not in layers:
        raise QPolicyError(f"--draft-layer {chosen}: this draft has the layers {', '.join(map(str, layers))}")
    return chosen


def _matcher(checkpoint: Checkpoint, policy: Policy | None, job: Job, result: Rehearsed) -> Matcher:
    packed = {**FUSED, **{fused: tuple(parts) for fused, parts in result.packed.items()}}
    return (policy or no_policy()).bind(checkpoint, draft=job.draft, packed=packed, draft_layer=job.draft_index or 0)


def _finding(fault: Fault, checkpoint: Checkpoint) -> Finding:
    return CODES[fault.code].finding(
        fault.message, modules=fault.modules, file=str(checkpoint.path), severity=fault.severity
    )
