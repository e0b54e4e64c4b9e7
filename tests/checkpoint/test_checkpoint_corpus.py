"""Every published config and tensor list that lies beside the checkout opens, or is refused in plain words."""

import json
import re
from itertools import product
from pathlib import Path

import pytest
from checkpoints import BITS, write_index, write_json, write_safetensors

from qpolicy.checkpoint import open_checkpoint
from qpolicy.errors import QPolicyError

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
]


def listed(folder):
    return sorted(path.name for path in (CORPUS / folder).glob("*.json"))


@pytest.mark.parametrize("file", listed("configs"))
@pytest.mark.parametrize("name", ["config.json", "hf_quant_config.json"])
def test_every_config(tmp_path, file, name):
    (tmp_path / name).write_bytes((CORPUS / "configs" / file).read_bytes())
    try:
        checkpoint = open_checkpoint(tmp_path)
    except QPolicyError as error:
        assert "expected" in str(error)
        return
    assert checkpoint.modules == {}
    assert all(problem.message for problem in checkpoint.problems)
    if name == "config.json" and "quantization_config" in checkpoint.config:
        assert checkpoint.quantization_file == "config.json: quantization_config"


@pytest.mark.parametrize("file", [name for name in listed("tensors") if "__patterns" not in name])
def test_every_tensor_list(tmp_path, file):
    content = json.loads((CORPUS / "tensors" / file).read_text())
    if "weight_map" in content:
        write_index(tmp_path, content["weight_map"])
        names = list(content["weight_map"])
    else:
        tensors = {row["name"]: (row["dtype"], sizes(row["shape"])) for row in content["tensors"]}
        write_safetensors(tmp_path / "model.safetensors", tensors)
        names = list(tensors)
    checkpoint = open_checkpoint(tmp_path)
    assert sorted(stored(checkpoint)) == sorted(names)
    assert "linear" in {module.kind for module in checkpoint.modules.values()}


def stored(checkpoint):
    return [tensor.name for module in checkpoint.modules.values() for tensor in module.tensors.values()]


def sizes(text):
    return [int(part) for part in text.split("x")]


@pytest.mark.parametrize("file", [name for name in listed("tensors") if "__patterns" in name])
def test_every_pattern_list(tmp_path, file):
    content = json.loads((CORPUS / "tensors" / file).read_text())
    tensors = {}
    for row in content["tensors"]:
        shape = sizes(row["shape"]) if "ceil" not in row["shape"] else [8, 8]
        assert row["dtype"] in BITS
        for name in spell_out(row["pattern"]):
            tensors[name] = (row["dtype"], shape)
    write_safetensors(tmp_path / "model.safetensors", tensors)
    write_json(tmp_path / "config.json", {key: content[key] for key in content if key.startswith("num_")})
    checkpoint = open_checkpoint(tmp_path)
    assert {"linear", "moe", "embedding", "lm_head"} <= {module.kind for module in checkpoint.modules.values()}
    assert all(module.quantized is not None for module in checkpoint.modules.values() if module.kind)
    assert bool(checkpoint.draft_modules) == bool(content.get("num_nextn_predict_layers"))


def spell_out(pattern):
    values = {"L": "0 1", "E": "0 1 2", "even": "0 2", "odd": "1 3", "0-2": "0 2", "3-61": "3 61"}
    holes = re.findall(r"\{(.+?)\}", pattern)
    for choice in product(*(values[hole].split() for hole in holes)):
        parts = iter(choice)
        yield re.sub(r"\{.+?\}", lambda _: next(parts), pattern)  # noqa: B023
