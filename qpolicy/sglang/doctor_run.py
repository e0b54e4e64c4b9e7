"""Starts the process that examines the plugin and brings its checks back."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from qpolicy.sglang.doctor_check import Check
from qpolicy.sglang.standin import require_engine

LIMIT = 300.0
"""Seconds after which the examination is given up."""


def installed() -> tuple[str, str]:
    """Return the version of SGLang and the folder that it is imported from.

    Raises:
        EngineMissingError: SGLang or PyTorch is not installed.
    """
    require_engine("the doctor loads SGLang and the plugin into it")
    spec = find_spec("sglang")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return _version("sglang"), places[0] if places else "unknown"


def examine() -> tuple[Check, ...]:
    """Examine the plugin in a process apart.

    Raises:
        EngineMissingError: SGLang or PyTorch is not installed.
    """
    release, folder = installed()
    first = Check("sglang", "installed", "ok", f"{release} in {folder}, with PyTorch {_version('torch')}")
    return first, *_apart()


def _apart() -> Sequence[Check]:
    with tempfile.TemporaryDirectory() as folder:
        results, log = Path(folder, "results"), Path(folder, "log")
        command = [sys.executable, "-m", "qpolicy.sglang.doctor_worker", str(results)]
        with log.open("w", encoding="utf-8") as noise:
            ended = _ended(command, noise.fileno())
        lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
        checks = [Check.from_line(line) for line in lines]
        if ended:
            message = f"the process that examines SGLang {ended}; its last words: {_last_words(log)}"
            checks.append(Check("sglang", "examined", "fail", message, "repair SGLang until it can be imported"))
        return checks


def _ended(command: Sequence[str], noise: int) -> str:
    """Run a command; return how it failed, or an empty text."""
    try:
        status = subprocess.run(
            command, stdout=noise, stderr=noise, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return f"was given up after {LIMIT:.0f} s"
    return f"ended with status {status}" if status else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "none")
