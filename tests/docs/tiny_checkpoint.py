"""Writes the small checkpoints that the documentation describes.

A line is a state and names, as ``packed model.layers.{0..1}.mlp.{gate,up}_proj``; the states are those of ``small``.
Every other line is a line of ``config.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from checkpoints import write_checkpoint
from small import STATES

import qpolicy


def opened(folder: Path, described: str) -> qpolicy.Checkpoint:
    """Write the checkpoint that a text describes, and open it."""
    tensors, config = {}, ""
    for line in described.splitlines():
        state, _, names = line.partition(" ")
        if state not in STATES:
            config += line
            continue
        for name in (name for pattern in re.split(r",\s+", names.strip()) for name in spelled_out(pattern)):
            tensors |= {f"{name}.{own}": content for own, content in STATES[state].items()}
    return qpolicy.open_checkpoint(write_checkpoint(folder, tensors, json.loads(config)))


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
