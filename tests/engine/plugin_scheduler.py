"""Starts SGLang's real scheduler process on the CPU, as its engine does: ``python plugin_scheduler.py CASES RESULTS``.

Two JSON files: cases by name, and how each ended. SGLang is imported once and then forked, because importing it takes
most of the time. Each scheduler has a parent of its own, which it stops with a signal when it fails.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

READY_WITHIN = 120
FORK: Any = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Case:
    """One start of the scheduler.

    Attributes:
        folder: The checkpoint.
        removed: The dotted path of a function to take away from SGLang before the process starts its work.
        path: A folder to import from first, or None.
        settings: The environment.
    """

    folder: str
    removed: str | None = None
    path: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


def serve(case: Case, writer: Connection) -> None:
    """Do what SGLang's engine does in the child that it starts for a rank."""
    from sglang.srt.managers.scheduler import run_scheduler_process
    from sglang.srt.server_args import PortArgs, ServerArgs

    os.environ |= case.settings
    if case.path is not None:
        sys.path.insert(0, case.path)
    if case.removed is not None:
        _remove(case.removed)
    arguments = ServerArgs(
        model_path=case.folder,
        device="cpu",
        skip_tokenizer_init=True,
        disable_cuda_graph=True,
        max_total_tokens=256,
        max_running_requests=4,
        context_length=64,
    )
    run_scheduler_process(arguments, PortArgs.init_new(arguments), 0, 0, 0, None, writer)


def launch(case: Case, output: Path) -> None:
    """Be the parent of one scheduler; exit with 0 when it is ready to serve, and with its own status when it ends."""
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    reader, writer = FORK.Pipe(duplex=False)
    child = FORK.Process(target=serve, args=(case, writer))
    child.start()
    writer.close()
    try:
        ready = reader.poll(READY_WITHIN) and bool(reader.recv())
    except EOFError:
        ready = False
    if ready:
        child.kill()
    child.join(READY_WITHIN)
    sys.exit(0 if ready else child.exitcode or 99)


def _remove(target: str) -> None:
    import pkgutil

    home, _, name = target.rpartition(".")
    delattr(pkgutil.resolve_name(home), name)


def main() -> None:
    cases, results = map(Path, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from engine_models import stand_in

    stand_in()
    import sglang.srt.managers.scheduler
    import sglang.srt.model_loader.loader  # noqa: F401

    ended = {}
    for name, case in json.loads(cases.read_text()).items():
        output = results.with_name(f"{name}.log")
        parent = FORK.Process(target=launch, args=(Case(**case), output))
        parent.start()
        parent.join()
        ended[name] = (parent.exitcode, output.read_text(errors="replace"))
    results.write_text(json.dumps(ended))


if __name__ == "__main__":
    main()
