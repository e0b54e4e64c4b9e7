"""Which of a checkpoint's quantization configs the engine that asks reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from qpolicy.checkpoint import Checkpoint
from qpolicy.native import consulted_place
from qpolicy.native.versions import engine_and_version


def consulted(checkpoint: Checkpoint, engine: str) -> Checkpoint:
    """Return the checkpoint with the quantization config that an engine reads as the one that counts.

    Args:
        checkpoint: The checkpoint, whose first config counts.
        engine: The engine's name, perhaps with a version. Where SGLang reads another than the first is known; every
            other engine is taken to read the first.

    Raises:
        NativeConfigError: The config in ``config.json`` is malformed.
    """
    configs, places = checkpoint.configs, checkpoint.configs.quantization_places
    if len(places) < 2 or engine_and_version(engine)[0] != "sglang":
        return checkpoint
    place = consulted_place(places)
    if place is None or place == configs.quantization_file:
        return checkpoint
    return with_config(checkpoint, places[place], place)


def with_config(checkpoint: Checkpoint, quantization: Mapping[str, Any], place: str) -> Checkpoint:
    """Return a checkpoint with another quantization config as its only one.

    Args:
        checkpoint: The checkpoint.
        quantization: The other config.
        place: Where it came from, for messages.
    """
    configs = replace(
        checkpoint.configs,
        quantization=quantization,
        quantization_file=place,
        quantization_places={place: quantization},
    )
    return replace(checkpoint, configs=configs)
