"""Sweeps ``check`` and ``table`` over published configs and tensor lists: no traceback, no internal error."""

import json
from pathlib import Path
from typing import Any

import pytest
from checkpoints import write_checkpoint, write_index, write_json
from commandline import Ran, run
from small import compressed, config

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
]

# A layer of each kind, packed and plain, in the spellings that the published lists speak of.
TENSORS = {
    **{
        f"model.layers.{layer}.{module}.{tensor}": (dtype, shape)
        for layer in (0, 1)
        for module in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.experts.0.down_proj")
        for tensor, dtype, shape in (("weight_packed", "I32", (64, 8)), ("weight_scale", "BF16", (64, 2)))
    },
    "model.layers.0.mlp.gate.weight": ("BF16", (64, 64)),
    "model.visual.blocks.0.attn.qkv.weight": ("BF16", (64, 64)),
    "mtp.fc.weight": ("BF16", (64, 64)),
    "lm_head.weight": ("BF16", (64, 64)),
}


def listed(folder: str) -> list[str]:
    return sorted(path.name for path in (CORPUS / folder).glob("*.json"))


def read(folder: str, file: str) -> Any:
    return json.loads((CORPUS / folder / file).read_bytes())


def sound(ran: Ran) -> bool:
    """Whether a run ended as it may: broken or empty input is told on stderr, everything else on stdout."""
    told = ran.err if ran.code in {2, 3} else ran.out
    return ran.code in {0, 1, 2, 3} and bool(told) and "internal error" not in ran.err


def sweep(folder: Path, *commands: list[str]) -> None:
    for arguments in commands:
        ran = run(*arguments, folder)
        assert sound(ran), (arguments, ran)


@pytest.mark.parametrize("file", listed("configs"))
def test_every_config(tmp_path: Path, file: str) -> None:
    write_checkpoint(tmp_path, TENSORS, read("configs", file))
    sweep(tmp_path, ["check"], ["table"])


@pytest.mark.parametrize("file", listed("configs"))
def test_every_config_as_quantization_config(tmp_path: Path, file: str) -> None:
    write_checkpoint(tmp_path, TENSORS, config(read("configs", file)))
    sweep(tmp_path, ["check", "--format", "json"], ["table", "--draft", "--full"])


@pytest.mark.parametrize("file", listed("tensors"))
@pytest.mark.parametrize("quantization", [None, compressed(["lm_head"])], ids=["no-config", "compressed"])
def test_every_tensor_list(tmp_path: Path, file: str, quantization: dict[str, Any] | None) -> None:
    content = read("tensors", file)
    names = content.get("weight_map") or {
        row["name"]: "model.safetensors" for row in content["tensors"] if "name" in row
    }
    if quantization is not None:
        write_json(tmp_path / "config.json", config(quantization))
    write_index(tmp_path, names)
    sweep(tmp_path, ["check"], ["table"])
