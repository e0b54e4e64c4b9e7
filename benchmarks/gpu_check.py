"""Checks on a CUDA machine that layers built through the plugin run SGLang's own kernels and compute what they should.

Run ``python benchmarks/gpu_check.py`` where SGLang and qpolicy are installed, or ``--wheels FOLDER`` to take them from
a folder of wheels: they go into a temporary folder beside the PyTorch that is there, without a network.

For each format a small checkpoint is written: dense and MoE layers in that format, and plain ones that its list
forgets. It is loaded by SGLang's own loader through the plugin, under a policy that keeps the plain layers plain. The
same layers are built by SGLang alone from a checkpoint whose list is right. Both must have the same methods and run the
same CUDA kernels, and every output must agree with a float32 reference on the CPU.

Exit codes: 0 everything agrees, 1 something is wrong, 2 wrong use or nothing to run it with, 3 no CUDA device.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

NAMES = ("unquantized", "fp8-block", "fp8-tensor", "ct-w4a16", "ct-w8a8-fp8")
WRONG, MISUSED, NO_DEVICE = 1, 2, 3


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheels", type=Path, metavar="FOLDER", help="install these wheels into a temporary folder")
    parser.add_argument("--format", action="append", choices=NAMES, help="only this format; may be repeated")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table into this file too")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run the check; return the exit code."""
    options = arguments(given)
    if options.wheels is not None:
        return _with_wheels(options)
    missing = [package for package in ("torch", "safetensors", "sglang", "qpolicy") if find_spec(package) is None]
    if missing:
        return _refuse(f"{' and '.join(missing)} cannot be imported; install them, or give --wheels FOLDER", MISUSED)
    import torch  # noqa: PLC0415

    if not torch.cuda.is_available():
        return _refuse(f"PyTorch {torch.__version__} finds no CUDA device here, so nothing was checked", NO_DEVICE)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return _run(options.format or NAMES, options.output)


def _run(names: Sequence[str], output: Path | None) -> int:
    from gpu.check import check  # noqa: PLC0415
    from gpu.formats import FORMATS  # noqa: PLC0415
    from gpu.table import markdown  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as work:
        rows, failures = check([form for form in FORMATS if form.name in names], Path(work), "cuda")
    text = f"{_machine()}\n\n{markdown(rows, failures)}\n"
    print(text)
    if output is not None:
        output.write_text(text, encoding="utf-8")
    return WRONG if failures or not rows or any(row.problems() for row in rows) else 0


def _machine() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    import torch  # noqa: PLC0415

    capability = ".".join(map(str, torch.cuda.get_device_capability()))
    parts = [f"{name} {version(name)}" for name in ("qpolicy", "sglang", "torch")]
    return f"{torch.cuda.get_device_name()}, compute capability {capability}; {', '.join(parts)}"


def _with_wheels(options: argparse.Namespace) -> int:
    """Install the wheels, and run this script again in a process that finds them first."""
    from gpu.wheels import WheelsError, install  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as target:
        try:
            install(options.wheels, Path(target))
        except WheelsError as error:
            return _refuse(str(error), MISUSED)
        rest = [f"--format={name}" for name in options.format or ()]
        rest += [] if options.output is None else [f"--output={options.output}"]
        path = os.pathsep.join(filter(None, (target, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, __file__, *rest]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode


def _refuse(reason: str, code: int) -> int:
    print(f"gpu_check: {reason}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
