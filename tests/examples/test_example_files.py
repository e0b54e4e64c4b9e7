"""The committed example checkpoints are what the script writes, complete, small, and as their READMEs say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors import deserialize

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPT = EXAMPLES / "make_examples.py"
QUARK = EXAMPLES / "qwen3.5-quark-mxfp4"
CHECKPOINTS = [
    EXAMPLES / "qwen3-next-w4afp8" / "checkpoint",
    *(QUARK / variant for variant in ("dense-only", "full", "lookalike", "one-expert")),
    EXAMPLES / "qwen3-fp8",
]
DATA_SUFFIXES = {".json", ".safetensors"}


def _data_files(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.suffix in DATA_SUFFIXES)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def _tensors(checkpoint: Path) -> dict[str, dict[str, Any]]:
    """Every tensor of a checkpoint, as the safetensors library itself reads it."""
    shards = sorted(checkpoint.glob("*.safetensors"))
    return {name: tensor for shard in shards for name, tensor in deserialize(shard.read_bytes())}


def _config(checkpoint: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    return config


def _experts(tensors: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The dtype of the weight of each expert projection of the MTP head."""
    return {
        name.removesuffix(".weight"): tensor["dtype"]
        for name, tensor in tensors.items()
        if name.startswith("mtp.layers.0.mlp.experts.") and name.endswith(".weight")
    }


def test_the_script_writes_the_committed_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, "--into", tmp_path], check=True, capture_output=True, timeout=60)
    written, committed = _data_files(tmp_path), _data_files(EXAMPLES)
    assert sorted(written) == sorted(committed)
    assert [name for name in written if written[name] != committed[name]] == []


def test_every_folder_with_a_config_is_listed() -> None:
    assert sorted(path.parent for path in EXAMPLES.rglob("config.json")) == sorted(CHECKPOINTS)


@pytest.mark.parametrize("folder", sorted({path.parent for path in EXAMPLES.glob("*/*.qpolicy")}), ids=lambda p: p.name)
def test_every_example_has_a_short_readme_with_its_command(folder: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert f"qpolicy check examples/{folder.name}" in readme
    assert len(readme.splitlines()) <= 25
    assert len(list(folder.glob("*.qpolicy"))) == 1


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_checkpoints_are_small(checkpoint: Path) -> None:
    assert sum(path.stat().st_size for path in checkpoint.iterdir()) < 750_000


def test_the_examples_together_are_small() -> None:
    assert sum(map(len, _data_files(EXAMPLES).values())) < 2_700_000


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_shards_and_index_agree(checkpoint: Path) -> None:
    shards = sorted(checkpoint.glob("*.safetensors"))
    index = checkpoint / "model.safetensors.index.json"
    assert index.exists() == (len(shards) > 1)
    if index.exists():
        stored = {name: shard.name for shard in shards for name, _ in deserialize(shard.read_bytes())}
        assert json.loads(index.read_text())["weight_map"] == stored


def test_the_forgotten_head_is_plain_and_the_list_does_not_mention_it() -> None:
    tensors = _tensors(CHECKPOINTS[0])
    assert {tensor["dtype"] for name, tensor in tensors.items() if name.startswith("mtp.")} == {"BF16"}
    assert not [entry for entry in _config(CHECKPOINTS[0])["quantization_config"]["ignore"] if "mtp" in entry]
    packed = {name for name in tensors if name.endswith(".weight_packed")}
    assert len(packed) == 2 * 4 * 3
    assert all(name.startswith("model.layers.") and ".mlp.experts." in name for name in packed)


@pytest.mark.parametrize(("variant", "plain"), [("full", 12), ("dense-only", 0), ("one-expert", 1), ("lookalike", 0)])
def test_quark_experts_are_stored_as_their_list_says(variant: str, plain: int) -> None:
    exclude = _config(QUARK / variant)["quantization_config"]["exclude"]
    experts = _experts(_tensors(QUARK / variant))
    assert len(experts) == 12
    assert {name for name, dtype in experts.items() if dtype == "BF16"} == experts.keys() & set(exclude)
    assert len(experts.keys() & set(exclude)) == plain


@pytest.mark.parametrize("variant", ["full", "dense-only", "one-expert", "lookalike"])
def test_quark_lists_name_stored_modules_but_for_the_lookalike(variant: str) -> None:
    modules = {name.rpartition(".")[0] for name in _tensors(QUARK / variant)}
    exclude = _config(QUARK / variant)["quantization_config"]["exclude"]
    strangers = ["mtp.layers.0.mlp.experts_something"] if variant == "lookalike" else []
    assert [entry for entry in exclude if entry not in modules] == strangers


def test_the_variants_share_their_target() -> None:
    first, *others = [
        {name: tensor for name, tensor in _tensors(checkpoint).items() if not name.startswith("mtp.")}
        for checkpoint in CHECKPOINTS[1:5]
    ]
    assert all(other == first for other in others)


def test_fp8_weights_have_one_scale_for_each_block() -> None:
    tensors = _tensors(EXAMPLES / "qwen3-fp8")
    quantized = {name: tensor["shape"] for name, tensor in tensors.items() if tensor["dtype"] == "F8_E4M3"}
    assert len(quantized) == 2 * 7
    for name, shape in quantized.items():
        assert tensors[f"{name}_scale_inv"]["shape"] == [-(-size // 128) for size in shape]
    assert tensors["lm_head.weight"]["dtype"] == "BF16"
