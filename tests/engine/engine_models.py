"""Builds and loads checkpoints with the real SGLang in a process without a GPU.

Run as ``python engine_models.py JOBS RESULTS``: two JSON files, a list of jobs and the list of what became of each.
It stands apart from the tests because SGLang keeps process-wide state and prints to both streams.
"""

from __future__ import annotations

import importlib.machinery
import json
import socket
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

UNTOUCHED = 0xA5
"""Every byte of a parameter before loading; no example stores a row of it."""


@dataclass(frozen=True, slots=True)
class Job:
    """One model to build and load on the CPU.

    Attributes:
        folder: The checkpoint. Each job needs a folder of its own: SGLang keeps configs by path.
        draft: Whether to build the speculative draft that the checkpoint holds.
        unquantized: Whether every layer is answered with plain weights in place of SGLang's own answer.
    """

    folder: str
    draft: bool
    unquantized: bool = False


@dataclass(slots=True)
class Outcome:
    """What SGLang did with a job.

    Attributes:
        model: The model's class.
        quantization: The class of the model's own quantization config, or ``NoneType``.
        asked: Every name that asked for a method, and the class of the method that it got.
        dtypes: The dtype of every parameter.
        missed: Parameters with a row that no tensor of the checkpoint reached.
        error: The exception that loading raised, or None.
    """

    model: str
    quantization: str
    asked: dict[str, str]
    dtypes: dict[str, str] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    error: str | None = None


def start() -> None:
    """Give SGLang what it looks for on a GPU machine, then start its process groups."""
    stand_in()
    from sglang.test.layer_ut_utils import init_single_process_dist

    init_single_process_dist(free_port())


def free_port() -> int:
    """Return a port that nobody listens on, for processes that run at the same time."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def stand_in() -> None:
    """Give SGLang the three things that it looks for on a GPU machine."""
    warnings.filterwarnings("ignore")
    import torch

    # RotaryEmbedding binds this function when it finds no GPU; building and loading never call it.
    vllm, operations = types.ModuleType("vllm"), types.ModuleType("vllm._custom_ops")
    vars(operations)["rotary_embedding"] = lambda *_args, **_options: None
    vars(vllm)["_custom_ops"] = operations
    for module in (vllm, operations):
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
        sys.modules[module.__name__] = module
    # Linear attention puts its norm on the current device, whatever the surrounding torch.device says.
    torch.cuda.current_device = lambda: "cpu"


def run(job: Job) -> Outcome:
    """Build the job's model as SGLang's default loader does, and load its weights without post-processing."""
    import torch
    from sglang.srt.configs.load_config import LoadConfig
    from sglang.srt.configs.model_config import ModelConfig
    from sglang.srt.model_loader import loader
    from sglang.srt.model_loader.utils import set_default_torch_dtype

    config = ModelConfig(job.folder, is_draft_model=job.draft, dtype="bfloat16")
    load_config = LoadConfig(load_format="safetensors")
    quant_config = loader._get_quantization_config(config, load_config)
    asked: dict[str, str] = {}
    quant_config.get_quant_method = _recorded(quant_config, asked, job.unquantized)
    cpu = torch.device("cpu")
    with set_default_torch_dtype(config.dtype), cpu:
        model = loader._initialize_model(config, load_config, quant_config)
    outcome = Outcome(type(model).__name__, type(model.quant_config).__name__, asked)
    outcome.dtypes = {name: str(parameter.dtype) for name, parameter in model.named_parameters()}
    for parameter in model.parameters():
        _bytes_of(parameter).fill_(UNTOUCHED)
    default = loader.DefaultModelLoader(load_config)
    try:
        default.load_weights_only(model, default._get_all_weights(config, model), cpu)
    except Exception as error:
        outcome.error = f"{type(error).__name__}: {error}"
    outcome.missed = [name for name, parameter in model.named_parameters() if _has_untouched_row(parameter)]
    return outcome


def _recorded(quant_config: Any, asked: dict[str, str], unquantized: bool) -> Callable[[Any, str], Any]:
    """Wrap the config's answer: note each question, and if so wished answer it with plain weights."""
    from sglang.srt.layers.linear import LinearBase
    from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod

    original = quant_config.get_quant_method

    def answer(layer: Any, prefix: str) -> Any:
        plain = UnquantizedLinearMethod() if isinstance(layer, LinearBase) else None
        method = plain if unquantized else original(layer, prefix)
        asked[prefix] = type(method).__name__
        return method

    return answer


def _bytes_of(parameter: Any) -> Any:
    """The parameter's memory as rows of bytes; a single number is one row."""
    import torch

    data = parameter.data
    return (data.reshape(1) if data.dim() == 0 else data).view(torch.uint8)


def _has_untouched_row(parameter: Any) -> bool:
    return bool((_bytes_of(parameter) == UNTOUCHED).all(dim=-1).any())


def main() -> None:
    jobs, results = map(Path, sys.argv[1:])
    start()
    outcomes = [asdict(run(Job(**job))) for job in json.loads(jobs.read_text())]
    results.write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main()
