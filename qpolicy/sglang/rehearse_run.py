"""Starts the process that rehearses and brings its results back."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from qpolicy.errors import QPolicyError
from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_steps import Step, latest
from qpolicy.sglang.standin import Standing, require_engine

_WAIT = 0.2


def run_jobs(
    jobs: Sequence[Job],
    *,
    device: str = "sm90",
    ranks: int = 1,
    path: str = "cuda",
    advance: Callable[[int], None] = lambda _done: None,
    watch: Callable[[Step], None] = lambda _step: None,
) -> tuple[Standing, list[Rehearsed]]:
    """Rehearse jobs one after the other in a process apart.

    Args:
        jobs: What to build.
        device: Which GPU to stand in for: ``sm90`` or ``sm100``.
        ranks: The tensor-parallel size.
        path: ``cuda``, or ``cpu`` for SGLang's CPU path.
        advance: Called with the number of finished jobs while waiting.
        watch: Called with what is being done while waiting.

    Returns:
        Which path SGLang took, and one result for each job.

    Raises:
        EngineMissingError: SGLang or PyTorch is not installed.
        QPolicyError: The process ended before it was done.
    """
    require_engine()
    with tempfile.TemporaryDirectory() as folder:
        given, results, steps, log = (Path(folder, name) for name in ("jobs.json", "results", "steps", "log"))
        given.write_text(json.dumps([asdict(job) for job in jobs]), encoding="utf-8")
        command = [sys.executable, "-m", "qpolicy.sglang.rehearse_worker", *map(str, (given, results, steps)), device]
        with log.open("w", encoding="utf-8") as noise:
            process = subprocess.Popen(
                [*command, str(ranks), path], stdout=noise, stderr=noise, stdin=subprocess.DEVNULL
            )
            try:
                while process.poll() is None and (done := _lines(results)) <= len(jobs):
                    advance(max(0, done - 1))
                    watch(latest(steps) or Step("starting"))
                    time.sleep(_WAIT)
            finally:
                process.kill()
                process.wait()
        lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
        if len(lines) != len(jobs) + 1:
            raise QPolicyError(f"the process that rehearses ended early; its last words:\n{_tail(log)}")
        first, *rest = (json.loads(line) for line in lines)
        return Standing(**first), [Rehearsed.from_json(data) for data in rest]


def _lines(results: Path) -> int:
    return results.read_bytes().count(b"\n") if results.exists() else 0


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-12:])
