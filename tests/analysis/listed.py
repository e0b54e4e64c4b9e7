"""Module tables rebuilt from published lists: what the entries name, and plausible siblings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from checkpoints import write_checkpoint
from small import STATES

import qpolicy
from qpolicy.analysis.entries import syntax_of
from qpolicy.native import read_config

_MODULES = (
    *(f"self_attn.{name}_proj" for name in "qkvo"),
    *(f"linear_attn.{name}" for name in ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj")),
    *(f"mlp.{name}_proj" for name in ("gate", "up", "down")),
    *(f"mlp.experts.{number}.{name}_proj" for number in range(2) for name in ("gate", "up", "down")),
    *(f"mlp.shared_expert.{name}_proj" for name in ("gate", "up", "down")),
    "mlp.gate",
    "mlp.shared_expert_gate",
)
_STEMS = ("model.layers.1", "model.layers.11", "model.language_model.layers.1", "mtp.layers.0")
COMMON = (
    "lm_head",
    "model.embed_tokens",
    "mtp.fc",
    "model.visual.blocks.0.attn.qkv",
    "model.visual.merger.linear_fc1",
    "vision_tower.encoder.layers.0.mlp.fc1",
    "multi_modal_projector.linear_1",
    *(f"{stem}.{module}" for stem in _STEMS for module in _MODULES),
)
"""Names that published expressions speak of, with their siblings."""

_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_SIBLINGS = {"gate": "gate_proj", "gate_proj": "up_proj", "q_proj": "k_proj", "shared_expert": "shared_experts"}
_MOST = 400


def rebuilt(
    folder: Path, quantization: Mapping[str, Any], config: Mapping[str, Any] | None = None
) -> qpolicy.Checkpoint:
    """Write and open a checkpoint for a list.

    Args:
        folder: Where to write.
        quantization: The quantization config.
        config: The rest of ``config.json``.
    """
    entries = [entry.text for entry in read_config(quantization).entries]
    plain = [text for text in entries if syntax_of(text) == "name" and _NAME.fullmatch(text)]
    if len(plain) > _MOST:
        plain = plain[: _MOST // 2] + plain[-_MOST // 2 :]
    names = dict.fromkeys([*COMMON, *(name for text in plain for name in (text, *siblings(text)))])
    parents = {name.rpartition(".")[0] for name in names}
    tensors = {
        f"{name}.{own}": form
        for name in names
        if name not in parents
        for own, form in STATES["norm" if re.search(r"norm|conv", name) else "plain"].items()
    }
    more = {key: value for key, value in (config or {}).items() if "quantization" not in key}
    whole = {**more, "quantization_config": dict(quantization)}
    return qpolicy.open_checkpoint(write_checkpoint(folder, tensors, whole))


def siblings(name: str) -> Iterable[str]:
    """Yield names that a careless comparison takes for this one: another layer, another projection."""
    head, dot, leaf = name.rpartition(".")
    if dot and leaf in _SIBLINGS:
        yield f"{head}.{_SIBLINGS[leaf]}"
    other = re.sub(r"(?<=layers\.)\d+(?=\.)", lambda found: found[0] + "1", name, count=1)
    if other != name:
        yield other
