"""Runs the real command line inside the test's process, and writes the small checkpoints that it looks at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from small import compressed, small_checkpoint

from qpolicy.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What a run of the command line left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str | Path, stdin: str | bytes | None = None, **env: str | None) -> Ran:
    """Run ``qpolicy`` with these arguments; a traceback, or any escape past the exit code, fails the test."""
    settings = {"NO_COLOR": None, "FORCE_COLOR": None, "QPOLICY_DEBUG": None, **env}
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=stdin, env=settings)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.stderr or env.get("QPOLICY_DEBUG")
    return Ran(result.exit_code, result.stdout, result.stderr)


LAYERS = {
    "model.layers.0.self_attn.q_proj": "packed",
    "model.layers.0.self_attn.k_proj": "packed",
    "model.layers.0.self_attn.v_proj": "packed",
    "model.layers.0.mlp.down_proj": "packed",
    "model.layers.1.mlp.down_proj": "packed",
    "model.norm": "norm",
    "lm_head": "plain",
}


def healthy(folder: Path, name: str = "healthy") -> Path:
    """A checkpoint whose list agrees with its tensors."""
    small_checkpoint(folder / name, LAYERS, compressed(["lm_head"]))
    return folder / name


def faulty(folder: Path, name: str = "faulty") -> Path:
    """A checkpoint with a layer in bf16 that its list does not exclude."""
    small_checkpoint(folder / name, {**LAYERS, "model.layers.1.mlp.down_proj": "plain"}, compressed(["lm_head"]))
    return folder / name


def with_draft(folder: Path, name: str = "draft") -> Path:
    """A checkpoint with an MTP head in bf16 that its list forgot."""
    draft = {"mtp.fc": "plain", "mtp.layers.0.mlp.gate_proj": "plain", "mtp.layers.0.mlp.up_proj": "plain"}
    small_checkpoint(folder / name, {**LAYERS, **draft}, compressed(["lm_head"]))
    return folder / name


def empty(folder: Path, name: str = "empty") -> Path:
    """A folder with a GGUF file and nothing else."""
    (folder / name).mkdir()
    (folder / name / "model.gguf").write_bytes(b"GGUF")
    return folder / name


def policy(path: Path, text: str) -> Path:
    """A policy file, given without its version line."""
    path.write_text(f"qpolicy 1\n\n{text}\n", encoding="utf-8")
    return path
