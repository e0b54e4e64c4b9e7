"""Makes SGLang take its CUDA path in a process without a GPU, so that layers get the classes that a real one gives.

Nothing is computed on a device: models are built on the meta device. Call :func:`stand_in` before anything imports
SGLang; it changes the whole process, which should do nothing else.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, TypeAlias

from qpolicy.errors import QPolicyError
from qpolicy.sglang import standin_cpu, standin_groups, standin_kernels

Path: TypeAlias = Literal["cuda", "cpu"]

INSTALL = 'pip install "qpolicy[sglang]", then SGLang itself as its documentation says'


class EngineMissingError(QPolicyError):
    """SGLang or PyTorch is not installed."""


@dataclass(frozen=True, slots=True)
class Device:
    """What a process is told about the GPU that it does not have.

    Attributes:
        name: What the driver calls it.
        capability: Its compute capability.
        processors: How many multiprocessors it has.
        memory: Its memory in bytes.
    """

    name: str
    capability: tuple[int, int]
    processors: int
    memory: int


DEVICES = {
    "sm90": Device("NVIDIA H100 80GB HBM3", (9, 0), 132, 80 << 30),
    "sm100": Device("NVIDIA B200", (10, 0), 148, 180 << 30),
}
"""The GPUs that can be stood in for."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Which path SGLang takes in this process.

    Attributes:
        path: ``cuda`` or ``cpu``.
        device: The device's key in :data:`DEVICES`.
        note: What is not as on a real machine, in one sentence; empty when nothing that rehearsal looks at differs.
    """

    path: Path
    device: str
    note: str


def require_engine(why: str = "rehearsal builds SGLang's own model classes") -> None:
    """Check that there is an engine to work with.

    Args:
        why: What it is needed for.

    Raises:
        EngineMissingError: SGLang or PyTorch is not installed.
    """
    missing = [package for package in ("torch", "sglang") if find_spec(package) is None]
    if missing:
        raise EngineMissingError(
            f"{why}, but {' and '.join(missing)} cannot be imported here; install them in this environment: {INSTALL}"
        )


def stand_in(device: str = "sm90", *, ranks: int = 1, path: Path | None = None) -> Standing:
    """Stand in for a GPU and for the other ranks, then create SGLang's process groups.

    Args:
        device: A key of :data:`DEVICES`.
        ranks: The tensor-parallel size; this process is rank 0 and the others are only counted.
        path: ``cpu`` forces the CPU path; by default the CUDA path is taken where it can be.

    Raises:
        EngineMissingError: SGLang is not installed.
    """
    require_engine()
    warnings.filterwarnings("ignore")
    os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is fetched: a model is built from what lies in its folder
    standing = _take_path(device, path)
    standin_groups.start(ranks)
    return standing


def _take_path(device: str, path: Path | None) -> Standing:
    if path == "cpu":
        standin_cpu.start(DEVICES[device].capability)
        return Standing(
            "cpu", device, "SGLang's CPU path was asked for; its classes and kernels are not those of a GPU"
        )
    from qpolicy.sglang import standin_cuda  # noqa: PLC0415 - imports torch

    missing = standin_kernels.start()
    standin_cuda.start(DEVICES[device])
    return Standing("cuda", device, missing)
