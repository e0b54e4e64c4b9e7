"""What is called a fault in a rehearsal, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import small_checkpoint

from qpolicy.checkpoint import Checkpoint
from qpolicy.sglang.rehearse_faults import faults
from qpolicy.sglang.rehearse_job import Layer, Parameter, Rehearsed

EXPERTS = Layer("m.experts", "m.experts", "moe", "FusedMoE", asked=True)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    return small_checkpoint(tmp_path / "small", {"model.a": "plain", "model.b": "plain"})


def rehearsed(*parameters: Parameter, skipped: tuple[str, ...] = ()) -> Rehearsed:
    return Rehearsed(layers=[EXPERTS], parameters=list(parameters), skipped=list(skipped), followed=True)


def parameter(name: str, *sources: str, loader: bool = True) -> Parameter:
    return Parameter(name, "bfloat16", (64, 64), 1.0 if sources else 0.0, sources, loader)


def codes(result: Rehearsed, checkpoint: Checkpoint) -> list[tuple[str, str]]:
    return [(fault.code, fault.severity) for fault in faults(result, checkpoint, draft=False)]


def test_full_parameters_and_no_other_tensors_are_no_fault(checkpoint: Checkpoint) -> None:
    assert codes(rehearsed(parameter("a.weight", "model.a.weight")), checkpoint) == []


@pytest.mark.parametrize(("loader", "found"), [(True, [("QP403", "error")]), (False, [])])
def test_what_a_method_makes_for_itself_needs_no_tensor(
    checkpoint: Checkpoint, loader: bool, found: list[tuple[str, str]]
) -> None:
    swizzled = parameter("m.experts.w2_swizzled", loader=loader)
    assert codes(rehearsed(parameter("a.weight", "model.a.weight"), swizzled), checkpoint) == found


def test_a_plain_parameter_without_a_loader_needs_its_tensor(checkpoint: Checkpoint) -> None:
    result = rehearsed(parameter("a.weight", "model.a.weight"), parameter("norm.weight", loader=False))
    assert codes(result, checkpoint) == [("QP403", "error")]


def test_a_tensor_that_is_passed_over_is_a_warning(checkpoint: Checkpoint) -> None:
    result = rehearsed(parameter("a.weight", "model.a.weight"), skipped=("model.b.weight",))
    assert codes(result, checkpoint) == [("QP402", "warning")]


def test_a_model_that_nothing_reaches_is_told_by_its_parameters_alone(checkpoint: Checkpoint) -> None:
    result = rehearsed(parameter("x.weight"), skipped=("model.a.weight", "model.b.weight"))
    assert codes(result, checkpoint) == [("QP403", "error")]


def test_what_was_not_followed_is_a_remark(checkpoint: Checkpoint) -> None:
    assert codes(Rehearsed(parameters=[parameter("x.weight")]), checkpoint) == [("QP407", "info")]
