"""How the kernel of a layer is named, whatever its method keeps."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest

from qpolicy.sglang.rehearse_kernel import kernel_of
from qpolicy.sglang.standin_kernels import Kernel


class Backend(Enum):
    MARLIN = "marlin"


class Runner:
    runner_backend = Backend.MARLIN


class Opaque:
    pass


def named_function() -> None:
    pass


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (None, ""),
        ("marlin", "marlin"),
        (named_function, "named_function"),
        (Backend.MARLIN, "marlin"),
        (Runner(), "Runner marlin"),
        (Opaque(), "Opaque"),
        (Kernel("sgl_kernel.gemm"), "sgl_kernel.gemm"),
    ],
)
def test_choices_are_named(choice: Any, named: str) -> None:
    assert kernel_of(SimpleNamespace(quant_method=SimpleNamespace(kernel=choice))) == named


def test_each_choice_is_named_once() -> None:
    method = SimpleNamespace(use_marlin=True, kernel="a", runner=Runner())
    scheme = SimpleNamespace(use_marlin=True, kernel="b", use_deep_gemm=False)
    module = SimpleNamespace(quant_method=method, scheme=scheme)
    assert kernel_of(module) == "use_marlin, a, Runner marlin, b"


def test_layer_without_a_method_has_none() -> None:
    assert kernel_of(SimpleNamespace()) == ""
