import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkpoints import write_checkpoint, write_json

from qpolicy.checkpoint import draft_patterns, open_checkpoint
from qpolicy.errors import CheckpointError

W = ("BF16", (8, 8))
MTP = {"num_hidden_layers": 61, "num_nextn_predict_layers": 1}


def test_a_config_alone_opens_with_an_empty_table(tmp_path):
    write_json(tmp_path / "config.json", {"architectures": ["A"], "num_hidden_layers": 2})
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.modules == {}
    assert checkpoint.architectures == ("A",)
    assert checkpoint.headers
    assert checkpoint.draft_modules == ()


def test_the_quantization_config_and_where_it_came_from(tmp_path):
    write_checkpoint(tmp_path, {"a.weight": W}, {"quantization_config": {"quant_method": "fp8"}})
    checkpoint = open_checkpoint(str(tmp_path))
    assert checkpoint.path == tmp_path
    assert checkpoint.quantization == {"quant_method": "fp8"}
    assert checkpoint.quantization_file == "config.json: quantization_config"
    assert checkpoint.format == "fp8"


def test_policy_files_beside_it(tmp_path):
    write_checkpoint(tmp_path, {"a.weight": W})
    for name in ("b.qpolicy", "a.qpolicy", "c.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in open_checkpoint(tmp_path).policy_files] == ["a.qpolicy", "b.qpolicy"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent/deep/er", "no such folder; expected the folder of a checkpoint"),
        ("Qwen/Qwen3-8B", "if this is a hub id, download it first"),
        ("a\0b", "without a zero byte"),
    ],
)
def test_what_is_no_folder(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match=message):
        open_checkpoint(name)


def test_a_file_in_place_of_a_folder(tmp_path):
    write_checkpoint(tmp_path, {"a.weight": W})
    with pytest.raises(CheckpointError, match=f"a file; expected the checkpoint's folder, such as {tmp_path}"):
        open_checkpoint(tmp_path / "model.safetensors")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_an_unreadable_folder(tmp_path):
    tmp_path.chmod(0)
    with pytest.raises(CheckpointError, match="cannot be read"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("names", "config", "tied"),
    [
        (["model.embed_tokens.weight"], {}, True),
        (["model.embed_tokens.weight", "lm_head.weight"], {}, False),
        (["model.embed_tokens.weight"], {"tie_word_embeddings": False}, False),
        (["model.embed_tokens.weight", "lm_head.weight"], {"tie_word_embeddings": True}, True),
        (["a.weight"], {}, False),
    ],
)
def test_tied(tmp_path, names, config, tied):
    assert open_checkpoint(write_checkpoint(tmp_path, dict.fromkeys(names, W), config)).tied is tied


def test_a_tied_head_has_the_tensors_of_the_word_embedding(tmp_path):
    names = ["visual.pos_embed.weight", "model.embed_tokens.weight", "model.layers.0.embed_tokens.weight"]
    checkpoint = open_checkpoint(write_checkpoint(tmp_path, dict.fromkeys(names, W), {"tie_word_embeddings": True}))
    head = checkpoint.find("lm_head")
    assert (head.name, head.kind, head.quantized) == ("lm_head", "lm_head", False)
    assert head.tensors["weight"].name == "model.embed_tokens.weight"
    assert checkpoint.find("model.embed_tokens") is checkpoint.modules["model.embed_tokens"]
    assert checkpoint.find("model.absent") is None


def test_an_untied_head_that_is_not_stored_is_not_found(tmp_path):
    tensors = {"model.embed_tokens.weight": W}
    assert open_checkpoint(write_checkpoint(tmp_path, tensors, {"tie_word_embeddings": False})).find("lm_head") is None
    assert open_checkpoint(write_checkpoint(tmp_path / "x", {}, {"tie_word_embeddings": True})).find("lm_head") is None


@pytest.mark.parametrize(
    ("name", "draft"),
    [
        ("mtp", True),
        ("mtp.layers.0.mlp.up_proj", True),
        ("model.mtp.fc", True),
        ("language_model.mtp.fc", True),
        ("mtp_layers.0.eh_proj", True),
        ("model.mtp_layers.0.eh_proj", True),
        ("model.mtp_block.0.mlp.up_proj", True),
        ("model.layers.61.eh_proj", True),
        ("model.layers.61", True),
        ("model.layers.612.eh_proj", True),
        ("model.language_model.layers.61.eh_proj", True),
        ("language_model.model.layers.61.eh_proj", True),
        ("model.layers.60.mlp.up_proj", False),
        ("model.layers.7.mlp.up_proj", False),
        ("model.layers.061.mlp.up_proj", False),
        ("model.layers.61x.up_proj", False),
        ("mtp_head.fc", False),
        ("model.mtpx.fc", False),
        ("x.mtp.fc", False),
        ("visual.layers.61.up_proj", False),
    ],
)
def test_the_draft_scope(tmp_path, name, draft):
    checkpoint = open_checkpoint(write_checkpoint(tmp_path, {f"{name}.weight": W}, MTP))
    assert checkpoint.is_draft_name(name) is draft
    assert [module.name for module in checkpoint.draft_modules] == ([name] if draft else [])


@pytest.mark.parametrize("config", [{}, {"num_hidden_layers": 61}, {"num_nextn_predict_layers": 1}])
def test_layers_beyond_the_last_are_a_draft_only_if_the_config_has_one(tmp_path, config):
    checkpoint = open_checkpoint(write_checkpoint(tmp_path, {"model.layers.61.eh_proj.weight": W}, config))
    assert not checkpoint.is_draft_name("model.layers.61.eh_proj")
    assert checkpoint.is_draft_name("mtp.fc")
    assert not any("{" in pattern and ".." in pattern for pattern in draft_patterns(checkpoint))


def test_draft_patterns_are_texts_that_end_open(tmp_path):
    write_json(tmp_path / "config.json", MTP)
    patterns = draft_patterns(open_checkpoint(tmp_path))
    assert {"mtp.**", "model.mtp.**", "language_model.mtp.**", "mtp_layers.**", "model.layers.{61..}.**"} <= set(
        patterns
    )
    assert all(pattern.endswith(".**") for pattern in patterns)
    assert set(draft_patterns(None)) < set(patterns)


def test_draft_layers_are_counted_where_the_config_is_silent(tmp_path):
    names = ["mtp.layers.0.a.weight", "mtp.layers.0.b.weight", "mtp.layers.1.a.weight", "mtp.fc.weight"]
    assert open_checkpoint(write_checkpoint(tmp_path, dict.fromkeys(names, W), {})).draft_layers == 2


def big_model(layers=61, experts=244):
    def linear(name, rows, columns):
        yield f"{name}.weight", ("F8_E4M3", (rows, columns))
        yield f"{name}.weight_scale_inv", ("F32", (rows // 128, columns // 128))

    for layer in range(layers):
        stem = f"model.layers.{layer}"
        yield f"{stem}.input_layernorm.weight", ("BF16", (7168,))
        yield f"{stem}.mlp.gate.weight", ("BF16", (256, 7168))
        yield from linear(f"{stem}.self_attn.o_proj", 7168, 16384)
        for expert in range(experts):
            for name in ("gate_proj", "up_proj", "down_proj"):
                yield from linear(f"{stem}.mlp.experts.{expert}.{name}", 2048, 7168)


@pytest.fixture(scope="module")
def terabyte(tmp_path_factory):
    config = {**MTP, "quantization_config": {"quant_method": "fp8"}}
    return write_checkpoint(tmp_path_factory.mktemp("big"), dict(big_model()), config, shards=163)


class Counted:
    """An open file that counts what is read from it."""

    def __init__(self, file, counts):
        self.file, self.counts = file, counts

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.file.close()

    def read(self, count):
        part = self.file.read(count)
        self.counts.append(len(part))
        return part


def test_a_checkpoint_of_a_terabyte_is_read_by_its_headers_alone(terabyte, monkeypatch):
    counts = []
    plain_open = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *args, **keys: Counted(plain_open(path, *args, **keys), counts))
    checkpoint = open_checkpoint(terabyte)
    logical = sum(path.stat().st_size for path in terabyte.iterdir())
    assert logical > 600 * 10**9
    assert sum(counts) < logical / 10_000
    assert len(counts) == 163 * 2 + 2
    assert len(checkpoint.modules) == 61 * (3 + 3 * 244)
    assert checkpoint.problems == ()


MEASURE = """
import sys
from pathlib import Path
from qpolicy.checkpoint import open_checkpoint
open_checkpoint(sys.argv[1])
# Not getrusage: its peak is inherited from the process that started this one.
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak from Linux's /proc")
def test_a_checkpoint_of_a_terabyte_takes_little_memory(terabyte):
    run = subprocess.run([sys.executable, "-c", MEASURE, terabyte], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 200 * 1024
