"""One of two ranks that build models together, one after the other: ``plugin_ranks.py RANK PORT RESULTS FOLDER...``."""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

RANKS = 2


def main() -> None:
    rank, port, results, *folders = sys.argv[1:]
    os.environ |= {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "RANK": rank,
        "WORLD_SIZE": str(RANKS),
        "LOCAL_RANK": rank,
    }
    from engine_models import stand_in

    stand_in()
    _start_groups(int(rank))
    from sglang.srt.plugins import load_plugins

    load_plugins()
    from plugin_models import Job, run

    shown = _record_what_is_gathered()
    outcomes = [run(Job(folder, draft=True)) for folder in folders]
    told = [
        {"error": outcome.error, "layers": len(outcome.methods), "digests": [digest for digest, _ in digests]}
        for outcome, digests in zip(outcomes, shown, strict=True)
    ]
    Path(results).write_text(json.dumps(told))


def _record_what_is_gathered() -> list[Any]:
    from qpolicy.sglang import compat

    shown: list[Any] = []
    original = compat.gather

    def gather(value: Any) -> list[Any]:
        shown.append(original(value))
        return shown[-1]

    compat.gather = gather
    return shown


def _start_groups(rank: int) -> None:
    from sglang.srt.distributed import parallel_state
    from sglang.test.layer_ut_utils import publish_build_topology

    _without_gpu_communicators(parallel_state.GroupCoordinator)
    parallel_state.init_distributed_environment(world_size=RANKS, rank=rank, local_rank=rank, backend="gloo")
    publish_build_topology(world_rank=rank, tp_size=RANKS, ep_size=1, pp_size=1)
    parallel_state.initialize_model_parallel(backend="gloo")


def _without_gpu_communicators(group: Any) -> None:
    original = group.__init__

    def init(self: Any, *arguments: Any, **options: Any) -> None:
        bound = inspect.signature(original).bind(self, *arguments, **options)
        bound.arguments |= {name: False for name in bound.arguments if name.startswith("use_")}
        original(*bound.args, **bound.kwargs)

    group.__init__ = init


if __name__ == "__main__":
    main()
