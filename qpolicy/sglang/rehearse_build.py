"""Builds the real model class of a checkpoint on the meta device."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from qpolicy.sglang.building import Build
from qpolicy.sglang.rehearse_follow import follow
from qpolicy.sglang.rehearse_job import Job, Parameter, Rehearsed
from qpolicy.sglang.rehearse_neutral import neutral_config
from qpolicy.sglang.rehearse_plugin import activate
from qpolicy.sglang.rehearse_record import layers_of, recording
from qpolicy.sglang.rehearse_steps import Steps
from qpolicy.sglang.standin import Standing


def rehearse(job: Job, standing: Standing, tell: Steps) -> Rehearsed:
    """Build the model and follow its load; a failure to build is part of what is returned.

    Args:
        job: What to build.
        standing: The path that SGLang takes in this process.
        tell: Told what is being done.
    """
    del standing
    result, start = Rehearsed(), time.monotonic()
    builds: list[Build] = []
    try:
        if job.plugin:
            builds = activate(job.policy)
        with checkout(job.folder) as folder:
            _rehearse(job, folder, result, tell)
    except Exception as error:
        result.error = _told(error)
    result.problems = list(dict.fromkeys(builds[-1].problems)) if builds else []
    result.seconds = round(time.monotonic() - start, 3)
    return result


def _rehearse(job: Job, folder: str, result: Rehearsed, tell: Steps) -> None:
    from sglang.srt.configs.load_config import LoadConfig  # noqa: PLC0415
    from sglang.srt.configs.model_config import ModelConfig  # noqa: PLC0415
    from sglang.srt.model_loader import loader  # noqa: PLC0415
    from sglang.srt.model_loader.utils import get_model_architecture, set_default_torch_dtype  # noqa: PLC0415

    if job.draft:
        _leave_traces_of_target(job, folder)
    # Remote code is never run: SGLang has its own config classes for most of the models that it supports.
    _read_unknown_config_as_it_stands(folder)
    config = ModelConfig(folder, is_draft_model=job.draft, dtype="auto", trust_remote_code=False)
    load = LoadConfig(load_format="safetensors", draft_model_idx=job.draft_index)
    model_class, result.architecture = get_model_architecture(config)
    result.model = model_class.__name__
    if job.neutral:
        quantization = neutral_config(job.neutral, getattr(model_class, "packed_modules_mapping", {}))
    else:
        quantization = loader._get_quantization_config(config, load)
    tell("layers built")
    with (
        recording(lambda done: tell("layers built", done)) as made,
        set_default_torch_dtype(config.dtype),
        torch.device("meta"),
    ):
        model = loader._initialize_model(config, load, quantization)
    result.layers = layers_of(model, made)
    result.packed = _packed(model, quantization)
    result.mapper = _mapper(model_class, config)
    if job.tensors:
        follow(model, job.tensors, result, limit=job.limit, draft_index=job.draft_index, tell=tell)
    else:
        result.parameters = [
            Parameter(name, str(parameter.dtype).removeprefix("torch."), tuple(parameter.shape), 0.0)
            for name, parameter in model.named_parameters()
        ]


def _leave_traces_of_target(job: Job, folder: str) -> None:
    """Build the target first, as a server does.

    Some constructors change their class, and a draft of a class that inherits from it sees the change
    (sglang 0.5.23: ``packed_modules_mapping`` in srt/models/deepseek_v2.py). A folder that holds no target, or one
    that cannot be built, leaves no trace.
    """
    with contextlib.suppress(Exception):
        _rehearse(replace(job, draft=False, draft_index=None, tensors=()), folder, Rehearsed(), Steps())


def _read_unknown_config_as_it_stands(folder: str) -> None:
    """Let a config whose class only its checkpoint's remote code has be read as plain attributes."""
    transformers = import_module("transformers")
    kind = json.loads(Path(folder, "config.json").read_text(encoding="utf-8")).get("model_type")
    if isinstance(kind, str) and kind not in transformers.CONFIG_MAPPING:
        transformers.AutoConfig.register(
            kind, type("AsItStands", (transformers.PretrainedConfig,), {"model_type": kind})
        )


@contextmanager
def checkout(folder: str) -> Iterator[str]:
    """Yield a folder of links to a checkpoint's files, with a config that names no remote code.

    It is a new folder each time because SGLang keeps configs by path.
    """
    with tempfile.TemporaryDirectory() as name:
        for file in Path(folder).iterdir():
            if file.name != "config.json" and file.suffix != ".py":
                Path(name, file.name).symlink_to(file.resolve())
        config = json.loads(Path(folder, "config.json").read_text(encoding="utf-8"))
        config.pop("auto_map", None)
        Path(name, "config.json").write_text(json.dumps(config), encoding="utf-8")
        yield name


def _told(error: Exception) -> str:
    """Return an exception's text, or for one without any the line of code that raised it."""
    text = str(error)
    if not text and (frames := traceback.extract_tb(error.__traceback__)):
        last = frames[-1]
        text = f"{last.line} ({Path(last.filename).name}:{last.lineno})"
    return f"{type(error).__name__}: {text}"[:1000]


def _packed(model: Any, quantization: Any) -> dict[str, list[str]]:
    # The config is what lists are read with; some constructors give it another mapping than their class has.
    mapping = getattr(quantization, "packed_modules_mapping", None) or getattr(model, "packed_modules_mapping", {})
    return {fused: list(parts) for fused, parts in mapping.items() if not isinstance(parts, dict)}


def _mapper(model_class: Any, config: Any) -> dict[str, dict[str, str | None]]:
    get = getattr(model_class, "get_hf_to_sglang_mapper", None)
    mapper = get(config.hf_config) if get is not None else getattr(model_class, "hf_to_sglang_mapper", None)
    if mapper is None:
        return {}
    kinds = {kind: dict(getattr(mapper, f"orig_to_new_{kind}", {})) for kind in ("substr", "prefix", "suffix")}
    return {kind: names for kind, names in kinds.items() if names}
