"""The process that rehearses: stands in for the GPU once, then builds each model in a child of its own.

Run as ``python -m qpolicy.sglang.rehearse_worker JOBS RESULTS STEPS DEVICE RANKS PATH``: a JSON file with a list of
jobs, a file for one line of JSON per job, a file for what is being done, a device to stand in for, the number of ranks,
and ``cuda`` or ``cpu``.
SGLang keeps process-wide state and prints to both streams, so nothing else happens here.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from qpolicy.sglang.rehearse_job import Job, Rehearsed
from qpolicy.sglang.rehearse_steps import Steps
from qpolicy.sglang.standin import Standing, stand_in


def main(arguments: list[str]) -> int:
    """Rehearse every job, writing each result as soon as it is known."""
    jobs, results, steps, device, ranks, path = arguments
    tell = Steps(Path(steps))
    tell("importing SGLang")
    with Path(results).open("w", encoding="utf-8") as out:
        standing = stand_in(device, ranks=int(ranks), path="cpu" if path == "cpu" else None)
        _write(out, {"path": standing.path, "device": standing.device, "note": standing.note})
        _import_everything()
        for data in json.loads(Path(jobs).read_text(encoding="utf-8")):
            tensors = tuple((name, dtype, tuple(shape)) for name, dtype, shape in data["tensors"])
            _write(out, apart(Job(**{**data, "tensors": tensors}), standing, tell))
    return 0


def apart(job: Job, standing: Standing, tell: Steps) -> dict[str, Any]:
    """Rehearse one job in a child process, so that what SGLang leaves behind ends with it; return plain values."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _child(job, standing, tell, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = _read(pipe, child, job.limit * 1.5 + 30)
    _, status = os.waitpid(child, 0)
    if data:
        return dict(json.loads(data))
    code = os.waitstatus_to_exitcode(status)
    ended = f"signal {-code}: out of time or memory" if code < 0 else f"status {code}"
    return Rehearsed(error=f"the process that built the model ended without a result ({ended})").to_json()


def _child(job: Job, standing: Standing, tell: Steps, write: int) -> None:
    from qpolicy.sglang.rehearse_build import rehearse  # noqa: PLC0415 - imported before, with everything else

    code = 1
    try:
        with contextlib.redirect_stdout(sys.stderr), os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps(rehearse(job, standing, tell).to_json()).encode())
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def _read(pipe: Any, child: int, limit: float) -> bytes:
    """Read all that the child writes; end the child when the time is over."""
    import select  # noqa: PLC0415

    parts: list[bytes] = []
    end = time.monotonic() + limit
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            return b""
        part = os.read(pipe.fileno(), 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _import_everything() -> None:
    """Import before the children start what each of them would import again."""
    from sglang.srt.models.registry import ModelRegistry  # noqa: PLC0415

    import_module("qpolicy.sglang.rehearse_build")
    ModelRegistry.get_supported_archs()


def _write(out: TextIO, value: dict[str, Any]) -> None:
    out.write(json.dumps(value) + "\n")
    out.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
