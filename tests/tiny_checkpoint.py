"""Writes the small checkpoints that the documentation describes.

A line is a state and names, as ``packed model.layers.{0..1}.mlp.{gate,up}_proj``. The states are those of ``small``,
and ``missing`` for modules that the index lists in a file that is not there. Every other line is one of
``config.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from checkpoints import write_checkpoint, write_index
from small import STATES

import qpolicy

MISSING = "missing"


def opened(folder: Path, described: str) -> qpolicy.Checkpoint:
    """Write the checkpoint that a text describes, and open it."""
    tensors, missing, config = {}, {}, ""
    for line in described.splitlines():
        state, _, names = line.partition(" ")
        if state != MISSING and state not in STATES:
            config += line
            continue
        for name in (name for pattern in re.split(r",\s+", names.strip()) for name in spelled_out(pattern)):
            if state == MISSING:
                missing[f"{name}.weight"] = "model-of-another-shard.safetensors"
            else:
                tensors |= {f"{name}.{own}": content for own, content in STATES[state].items()}
    write_checkpoint(folder, tensors, json.loads(config))
    if missing:
        write_index(folder, dict.fromkeys(tensors, "model.safetensors") | missing)
    return qpolicy.open_checkpoint(folder)


def spelled_out(pattern: str) -> Iterator[str]:
    """Yield every name that a pattern with braces stands for."""
    found = re.search(r"\{([^}]*)\}", pattern)
    if found is None:
        yield pattern
        return
    for part in found[1].split(","):
        first, _, last = part.partition("..")
        for spelling in map(str, range(int(first), int(last) + 1)) if last else (part,):
            yield from spelled_out(pattern[: found.start()] + spelling + pattern[found.end() :])
