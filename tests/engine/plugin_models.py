"""Builds and loads checkpoints through SGLang's real loader, with or without the plugin, in a process without a GPU.

Run as ``python plugin_models.py JOBS RESULTS [--plugin]``: two JSON files, a list of jobs and the list of what became
of each. One process does many jobs, because importing SGLang takes most of the time.
"""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine_models import UNTOUCHED, start


@dataclass(frozen=True, slots=True)
class Job:
    """One model.

    Attributes:
        folder: The checkpoint, in a folder of its own: SGLang keeps configs by path.
        draft: Whether to build the speculative draft that it holds.
        whole: Whether to load through ``load_model``, which needs a GPU for packed weights.
        load_format: SGLang's load format.
    """

    folder: str
    draft: bool
    whole: bool = False
    load_format: str = "safetensors"


@dataclass(slots=True)
class Outcome:
    """What became of a job.

    Attributes:
        config: The class of the quantization config that the loader passed, or ``NoneType``.
        methods: Every layer with a method: its own class and the method's.
        dtypes: The dtype of every parameter.
        untouched: Parameters with a byte row that no tensor reached.
        different: Parameters that differ from the tensors on disk, of those that can be compared.
        uncompared: Those that cannot.
        error: The exception, or None.
        log: What qpolicy logged.
    """

    config: str = ""
    methods: dict[str, list[str]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    untouched: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    uncompared: list[str] = field(default_factory=list)
    error: str | None = None
    log: list[str] = field(default_factory=list)


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def run(job: Job) -> Outcome:
    outcome = Outcome()
    lines = Lines()
    logger = logging.getLogger("qpolicy.sglang")
    logger.setLevel(logging.INFO)
    logger.addHandler(lines)
    try:
        model = (_load_whole if job.whole else _load)(job, outcome)
        _describe(model, job, outcome)
    except Exception as error:
        outcome.error = f"{type(error).__name__}: {error}"
    finally:
        logger.removeHandler(lines)
        outcome.log = lines.lines
    return outcome


def _load_whole(job: Job, outcome: Outcome) -> Any:
    from sglang.srt.configs.device_config import DeviceConfig
    from sglang.srt.configs.load_config import LoadConfig
    from sglang.srt.configs.model_config import ModelConfig
    from sglang.srt.model_loader.loader import DefaultModelLoader

    config = ModelConfig(job.folder, is_draft_model=job.draft, dtype="bfloat16")
    loader = DefaultModelLoader(LoadConfig(load_format=job.load_format))
    model = loader.load_model(model_config=config, device_config=DeviceConfig("cpu"))
    outcome.config = type(model.quant_config).__name__
    return model


def _load(job: Job, outcome: Outcome) -> Any:
    """Do what ``load_model`` does, without the post-processing that repacks weights on a GPU."""
    import torch
    from sglang.srt.configs.load_config import LoadConfig
    from sglang.srt.configs.model_config import ModelConfig
    from sglang.srt.model_loader import loader
    from sglang.srt.model_loader.utils import set_default_torch_dtype

    config = ModelConfig(job.folder, is_draft_model=job.draft, dtype="bfloat16")
    load_config = LoadConfig(load_format=job.load_format)
    quant_config = loader._get_quantization_config(config, load_config)
    outcome.config = type(quant_config).__name__
    cpu = torch.device("cpu")
    with set_default_torch_dtype(config.dtype), cpu:
        model = loader._initialize_model(config, load_config, quant_config)
    for parameter in model.parameters():
        _bytes_of(parameter).fill_(UNTOUCHED)
    if job.load_format == "safetensors":
        default = loader.DefaultModelLoader(load_config)
        default.load_weights_only(model, default._get_all_weights(config, model), cpu)
    return model


def _describe(model: Any, job: Job, outcome: Outcome) -> None:
    for name, module in model.named_modules():
        if hasattr(module, "quant_method"):
            outcome.methods[name] = [type(module).__name__, type(module.quant_method).__name__]
    tensors = _tensors(Path(job.folder))
    for name, parameter in model.named_parameters():
        outcome.dtypes[name] = str(parameter.dtype).removeprefix("torch.")
        if bool((_bytes_of(parameter) == UNTOUCHED).all(dim=-1).any()):
            outcome.untouched.append(name)
        wanted = _on_disk(_stored(name) if job.draft else name, tensors)
        if wanted is None:
            outcome.uncompared.append(name)
        elif wanted.shape != parameter.shape or not bool((wanted == parameter).all()):
            outcome.different.append(name)


def _tensors(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return {name: tensor for file in folder.glob("*.safetensors") for name, tensor in load_file(file).items()}


FUSED = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}
EXPERTS = {"w13": ("gate_proj", "up_proj"), "w2": ("down_proj",)}
# The decoder layers of Qwen3-Next and Qwen3.5 keep their attention's parameters themselves.
ATTENTION = ("qkv_proj.", "o_proj.", "q_norm.", "k_norm.")
DRAFT_PREFIXES = {"model.layers.": "mtp.layers.", "model.norm.": "mtp.norm.", "fc.": "mtp.fc.", "pre_fc": "mtp.pre_fc"}


def _stored(name: str) -> str:
    """Return the stored name of a draft's parameter."""
    for leaf in ATTENTION:
        name = name.replace(f".0.{leaf}", f".0.self_attn.{leaf}")
    return next((new + name[len(old) :] for old, new in DRAFT_PREFIXES.items() if name.startswith(old)), name)


def _on_disk(stored: str, tensors: dict[str, Any]) -> Any:
    """Put together what a parameter is to hold, from the stored tensors; None where that is not known here."""
    import torch

    if stored in tensors:
        return tensors[stored]
    head, _, own = stored.rpartition(".")
    module, _, leaf = head.rpartition(".")
    if leaf in FUSED:
        parts = [f"{module}.{part}.{own}" for part in FUSED[leaf]]
        return torch.cat([tensors[part] for part in parts]) if all(part in tensors for part in parts) else None
    side, _, own = own.partition("_")
    if leaf == "experts" and side in EXPERTS:
        return _experts(head, EXPERTS[side], own, tensors)
    return None


def _experts(head: str, parts: tuple[str, ...], own: str, tensors: dict[str, Any]) -> Any:
    import torch

    count = len({name.split(".experts.")[1].split(".")[0] for name in tensors if name.startswith(f"{head}.")})
    names = [[f"{head}.{number}.{part}.{own}" for part in parts] for number in range(count)]
    if not count or any(name not in tensors for row in names for name in row):
        return None
    return torch.stack([torch.cat([tensors[name] for name in row]) for row in names])


def _bytes_of(parameter: Any) -> Any:
    import torch

    data = parameter.data
    return (data.reshape(1) if data.dim() == 0 else data).view(torch.uint8)


def main() -> None:
    jobs, results = map(Path, sys.argv[1:3])
    start()
    if "--plugin" in sys.argv:
        from sglang.srt.plugins import load_plugins

        load_plugins()
    outcomes = [asdict(run(Job(**job))) for job in json.loads(jobs.read_text())]
    results.write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main()
