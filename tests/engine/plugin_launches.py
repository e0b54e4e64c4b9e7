"""Starts SGLang's real engine as far as its first child process: ``python plugin_launches.py CASES RESULTS``.

Two JSON files: cases by name, each with the arguments of an engine and the environment, and what each raised.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORK: Any = multiprocessing.get_context("fork")
STARTED = "a child process would be started"


@dataclass(frozen=True, slots=True)
class Case:
    """One start of an engine.

    Attributes:
        folder: The checkpoint.
        arguments: What the engine is given besides.
        settings: The environment.
        ray: Whether the program has imported SGLang's Ray engine.
    """

    folder: str
    arguments: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    ray: bool = False


def launch(case: Case, output: Path) -> None:
    """Start the engine, and write what it raised."""
    from sglang.srt.entrypoints.engine import Engine

    os.environ |= case.settings
    if case.ray:
        sys.modules["sglang.srt.ray.engine"] = types.ModuleType("sglang.srt.ray.engine")
    for starts in ("_launch_scheduler_processes", "_launch_weight_cache_daemons"):
        setattr(Engine, starts, classmethod(_started))
    try:
        with contextlib.redirect_stderr(output.with_suffix(".log").open("w")):
            Engine(model_path=case.folder, device="cpu", skip_tokenizer_init=True, **case.arguments)
    except BaseException as error:
        output.write_text(f"{type(error).__name__}: {error}")


def _started(*_arguments: Any, **_options: Any) -> None:
    raise RuntimeError(STARTED)


def main() -> None:
    cases, results = map(Path, sys.argv[1:])
    from engine_models import stand_in

    stand_in()
    import sglang.srt.entrypoints.engine  # noqa: F401

    raised = {}
    for number, (name, case) in enumerate(json.loads(cases.read_text()).items()):
        output = results.with_name(f"{number}.txt")
        child = FORK.Process(target=launch, args=(Case(**case), output))
        child.start()
        child.join()
        raised[name] = output.read_text()
    results.write_text(json.dumps(raised))


if __name__ == "__main__":
    main()
