"""Refuses launches in which processes build the model that load no plugins, so that nobody would ask its policy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qpolicy.sglang.building import logger
from qpolicy.sglang.entry import MODE
from qpolicy.sglang.find import find
from qpolicy.sglang.settings import Mode, Settings
from qpolicy.sglang.stop import PolicyStop


@dataclass(frozen=True, slots=True)
class Launch:
    """A way to start SGLang in which the processes that build the model load no plugins.

    Attributes:
        argument: The attribute of the server's arguments that asks for it.
        values: The values that do.
        module: The module whose import asks for it as well, in a program that starts the engine itself; empty for none.
        builders: What builds the model.
        instead: How to start without it.
    """

    argument: str
    values: tuple[object, ...]
    module: str
    builders: str
    instead: str


# SGLang 0.5.23: neither srt/ray/scheduler_actor.py nor srt/weight_cache/daemon.py calls load_plugins.
LAUNCHES = (
    Launch("use_ray", (True,), "sglang.srt.ray.engine", "Ray actors", "without --use-ray (or RayEngine)"),
    Launch("weight_cache_mode", ("daemon", "client"), "", "the weight cache's daemon", "with --weight-cache-mode off"),
)
"""Every such way."""


def refuse(arguments: Any, settings: Settings) -> None:
    """Refuse a launch whose model has a policy that would not be asked; in ``warn`` mode, say so and go on.

    Args:
        arguments: SGLang's server arguments, before anything is started.
        settings: The plugin's settings.

    Raises:
        PolicyStop: In strict mode.
        QPolicyError: Whether there is a policy cannot be found out.
    """
    for launch in filter(lambda one: _is_asked_for(one, arguments), LAUNCHES):
        for model, revision in _models(arguments):
            found = find(model, revision, settings, cache_dir=getattr(arguments, "download_dir", None))
            if found is not None:
                _stop(f"{found.policy.source.name} for {model} {_why(launch)}", settings.mode)


def _is_asked_for(launch: Launch, arguments: Any) -> bool:
    return getattr(arguments, launch.argument, None) in launch.values or launch.module in sys.modules


def _models(arguments: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the model and the draft that has a checkpoint of its own, each with its revision."""
    for path, revision in (
        ("model_path", "revision"),
        ("speculative_draft_model_path", "speculative_draft_model_revision"),
    ):
        model = getattr(arguments, path, None)
        if model:
            yield str(model), getattr(arguments, revision, None)


def _why(launch: Launch) -> str:
    return (
        f"would not be asked: SGLang loads no plugins in {launch.builders}. "
        f"Start {launch.instead}, or set {MODE}=off to serve without any policy"
    )


def _stop(message: str, mode: Mode) -> None:
    if mode is Mode.STRICT:
        raise PolicyStop(message)
    logger.error("qpolicy: %s", message)
