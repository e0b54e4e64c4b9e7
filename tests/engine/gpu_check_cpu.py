"""Does what ``benchmarks/gpu_check.py`` does, as far as a CPU goes: ``python gpu_check_cpu.py RESULTS``.

The unquantized format is loaded, run and compared whole. Of the others the layers are built through SGLang's loader
and their weights are loaded; what repacks weights and runs them needs a GPU.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine_models import stand_in

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
UNREAD = 0xA5
ORDER = "g_idx"
"""A part of the names of parameters that only a checkpoint with an order of activations fills."""


def described(model: Any, written: Any, _device: str) -> Iterator[Any]:
    """Stand in for running a layer: say what it is, and with an infinite error if a tensor did not reach it."""
    import torch
    from gpu import engine

    for number in written.layers:
        for leaf, layer in model.blocks[str(number)].named_children():
            filled = [parameter.data for name, parameter in layer.named_parameters() if ORDER not in name]
            rows = [tensor.reshape(-1).view(torch.uint8) for tensor in filled]
            missed = not rows or any(bool((row == UNREAD).all()) for row in rows)
            yield engine._seen(f"model.layers.{number}.mlp.{leaf}", layer, (), float("inf") if missed else 0.0)


def mark_unread(model: Any) -> None:
    import torch

    for parameter in model.parameters():
        parameter.data.reshape(-1).view(torch.uint8).fill_(UNREAD)


def forgotten(form: Any, folder: Path) -> dict[str, Any]:
    """Load a checkpoint whose list forgets the plain layers, without a policy: what is raised, what stays unread."""
    import torch
    from gpu import checkpoints, engine

    checkpoints.excluded = list
    try:
        model = engine.load(checkpoints.write(folder, form, policy=False).folder, "cpu")
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "unread": [], "weight": ""}
    unread = [
        name
        for name, parameter in model.named_parameters()
        if bool((parameter.data.reshape(-1).view(torch.uint8) == UNREAD).all()) and ORDER not in name
    ]
    return {"error": "", "unread": unread, "weight": str(model.blocks["2"].down_proj.weight.dtype)}


def main() -> None:
    sys.path.insert(0, str(BENCHMARKS))
    stand_in()
    import torch
    from gpu import check, engine, layers
    from gpu.formats import FORMATS, PLAIN
    from gpu.table import markdown
    from sglang.srt.model_loader.loader import DefaultModelLoader

    torch.cuda.get_device_capability = lambda *_: (9, 0)  # some schemes ask before they are chosen
    with tempfile.TemporaryDirectory() as work:
        whole = check.check([PLAIN], Path(work), "cpu")
    load_only = DefaultModelLoader.load_weights_only

    def loaded(model: Any, weights: Any, device: Any) -> None:
        mark_unread(model)
        load_only(model, weights, device)

    DefaultModelLoader.load_weights_only = staticmethod(loaded)
    DefaultModelLoader.postprocess_weights = staticmethod(lambda *_: None)
    engine.run, engine.start = described, lambda _device: None
    layers.register()
    with tempfile.TemporaryDirectory() as work:
        built = check.check([form for form in FORMATS if form.config], Path(work), "cpu")
    results = {
        name: {
            "rows": [[row.format, row.seen.name, row.quantized, row.seen.method, row.seen.error] for row in rows],
            "problems": [problem for row in rows for problem in row.problems(on_gpu=False)],
            "failures": [f"{failure.format}: {failure.reason}" for failure in failures],
            "table": markdown(rows, failures, on_gpu=False),
        }
        for name, (rows, failures) in {"whole": whole, "built": built}.items()
    }
    with tempfile.TemporaryDirectory() as work:
        left_out = {form.name: forgotten(form, Path(work) / form.name) for form in FORMATS if form.config}
    Path(sys.argv[1]).write_text(json.dumps(results | {"forgotten": left_out}))


if __name__ == "__main__":
    main()
