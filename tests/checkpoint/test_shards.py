import pytest
from checkpoints import write_checkpoint, write_index, write_json, write_raw, write_safetensors

from qpolicy.checkpoint import open_checkpoint
from qpolicy.errors import CheckpointError, NothingToCheckError

NAMES = [f"model.layers.{i}.mlp.up_proj.weight" for i in range(6)]
TENSORS = dict.fromkeys(NAMES, ("BF16", (2, 2)))


def kinds(checkpoint):
    return {problem.kind: problem for problem in checkpoint.problems}


def stored(checkpoint):
    return [tensor.name for module in checkpoint.modules.values() for tensor in module.tensors.values()]


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("shards", [1, 3, 6])
def test_shards_with_and_without_an_index(tmp_path, shards, index):
    checkpoint = open_checkpoint(write_checkpoint(tmp_path, TENSORS, {}, shards, index))
    assert stored(checkpoint) == NAMES
    assert checkpoint.headers
    assert checkpoint.problems == ()


def test_an_index_alone_gives_names(tmp_path):
    write_index(tmp_path, dict.fromkeys(NAMES, "model-00001-of-00001.safetensors"))
    checkpoint = open_checkpoint(tmp_path)
    assert stored(checkpoint) == NAMES
    assert not checkpoint.headers
    assert checkpoint.modules["model.layers.0.mlp.up_proj"].tensors["weight"].dtype is None
    assert kinds(checkpoint).keys() == {"missing-shard", "no-headers"}
    assert "1 shard is listed" in kinds(checkpoint)["missing-shard"].message


def test_a_missing_shard(tmp_path):
    write_checkpoint(tmp_path, TENSORS, {}, shards=3)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    checkpoint = open_checkpoint(tmp_path)
    assert stored(checkpoint) == NAMES
    assert not checkpoint.headers
    dtypes = [module.tensors["weight"].dtype for module in checkpoint.modules.values()]
    assert dtypes == ["bf16", "bf16", None, None, "bf16", "bf16"]
    assert kinds(checkpoint)["missing-shard"].tensors == ("model-00002-of-00003.safetensors",)
    assert "no-headers" not in kinds(checkpoint)


def test_a_dangling_link_is_a_missing_shard(tmp_path):
    write_index(tmp_path, {NAMES[0]: "a.safetensors"})
    (tmp_path / "a.safetensors").symlink_to("blobs/absent")
    assert "links to files that are not there" in kinds(open_checkpoint(tmp_path))["missing-shard"].message


def test_a_missing_shard_without_an_index(tmp_path):
    write_checkpoint(tmp_path, TENSORS, {}, shards=3, index=False)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    checkpoint = open_checkpoint(tmp_path)
    assert kinds(checkpoint)["missing-shard"].tensors == ("model-00002-of-00003.safetensors",)
    assert len(checkpoint.modules) == 4


def disagreeing(tmp_path, weight_map, first, second):
    write_safetensors(tmp_path / "a.safetensors", dict.fromkeys(first, ("U8", (1,))))
    write_safetensors(tmp_path / "b.safetensors", dict.fromkeys(second, ("I8", (1,))))
    write_index(tmp_path, weight_map)
    return open_checkpoint(tmp_path)


def test_a_tensor_in_the_index_only(tmp_path):
    checkpoint = disagreeing(tmp_path, {"x.w": "a.safetensors", "y.w": "b.safetensors"}, ["x.w"], [])
    assert kinds(checkpoint)["missing-tensor"].tensors == ("y.w",)
    assert stored(checkpoint) == ["x.w"]


def test_a_tensor_in_a_shard_only(tmp_path):
    checkpoint = disagreeing(tmp_path, {"x.w": "a.safetensors", "z.w": "b.safetensors"}, ["x.w", "y.w"], ["z.w"])
    assert kinds(checkpoint)["unknown-tensor"].tensors == ("y.w",)
    assert stored(checkpoint) == ["x.w", "y.w", "z.w"]


def test_a_tensor_in_another_shard(tmp_path):
    checkpoint = disagreeing(tmp_path, {"x.w": "a.safetensors", "y.w": "b.safetensors"}, ["x.w", "y.w"], [])
    assert kinds(checkpoint).keys() == {"misplaced-tensor"}
    assert stored(checkpoint) == ["x.w", "y.w"]


@pytest.mark.parametrize("owner", ["a", "b"])
def test_a_tensor_in_two_shards(tmp_path, owner):
    checkpoint = disagreeing(
        tmp_path,
        {"x.w": f"{owner}.safetensors", "y.w": "a.safetensors", "z.w": "b.safetensors"},
        ["x.w", "y.w"],
        ["x.w", "z.w"],
    )
    assert kinds(checkpoint).keys() == {"double-tensor"}
    assert kinds(checkpoint)["double-tensor"].tensors == ("x.w",)
    assert checkpoint.modules["x"].tensors["w"].file == f"{owner}.safetensors"


def test_an_unlisted_tensor_in_two_shards(tmp_path):
    checkpoint = disagreeing(tmp_path, {"y.w": "a.safetensors", "z.w": "b.safetensors"}, ["x.w", "y.w"], ["x.w", "z.w"])
    assert {kind: problem.tensors for kind, problem in kinds(checkpoint).items()} == {
        "unknown-tensor": ("x.w",),
        "double-tensor": ("x.w",),
    }


def test_a_tensor_twice_without_an_index(tmp_path):
    write_safetensors(tmp_path / "a.safetensors", {"x.w": ("U8", (1,))})
    write_safetensors(tmp_path / "b.safetensors", {"x.w": ("I8", (1,))})
    checkpoint = open_checkpoint(tmp_path)
    assert kinds(checkpoint)["double-tensor"].tensors == ("x.w",)
    assert checkpoint.modules["x"].tensors["w"].dtype == "i8"


def test_a_problem_lists_a_few_names_and_counts_all(tmp_path):
    write_index(tmp_path, {f"t{i}.w": "a.safetensors" for i in range(100)})
    write_safetensors(tmp_path / "a.safetensors", {})
    problem = kinds(open_checkpoint(tmp_path))["missing-tensor"]
    assert (len(problem.tensors), problem.count) == (20, 100)
    assert "100 tensors are" in problem.message


def test_files_beside_the_index_are_not_read(tmp_path):
    write_checkpoint(tmp_path, TENSORS, {}, shards=2)
    write_raw(tmp_path / "extra.safetensors", b"not json")
    checkpoint = open_checkpoint(tmp_path)
    assert kinds(checkpoint)["unlisted-shard"].tensors == ("extra.safetensors",)
    assert stored(checkpoint) == NAMES


@pytest.mark.parametrize("shards", [1, 2])
def test_a_consolidated_copy_does_not_count_twice(tmp_path, shards):
    write_checkpoint(tmp_path, TENSORS, {}, shards)
    write_safetensors(tmp_path / "consolidated.safetensors", {"layers.0.w1.weight": ("BF16", (2, 2))})
    checkpoint = open_checkpoint(tmp_path)
    assert stored(checkpoint) == NAMES
    assert checkpoint.problems == ()


def test_a_consolidated_file_alone_counts(tmp_path):
    write_safetensors(tmp_path / "consolidated.safetensors", {"layers.0.w1.weight": ("BF16", (2, 2))})
    assert stored(open_checkpoint(tmp_path)) == ["layers.0.w1.weight"]


def test_of_several_indexes_the_usual_one_counts(tmp_path):
    write_checkpoint(tmp_path, TENSORS, {}, shards=2)
    for name in ("consolidated", "a.fp16"):
        write_index(tmp_path, {"other.w": "other.safetensors"}, f"{name}.safetensors.index.json")
    checkpoint = open_checkpoint(tmp_path)
    assert stored(checkpoint) == NAMES
    assert "model.safetensors.index.json is used" in kinds(checkpoint)["several-indexes"].message


def test_a_consolidated_index_is_the_last_choice(tmp_path):
    write_index(tmp_path, {"old.w": "consolidated.safetensors"}, "consolidated.safetensors.index.json")
    assert stored(open_checkpoint(tmp_path)) == ["old.w"]
    write_index(tmp_path, {"new.w": "x.safetensors"}, "x.safetensors.index.json")
    assert stored(open_checkpoint(tmp_path)) == ["new.w"]


@pytest.mark.parametrize(
    "file",
    ["../a.safetensors", "/etc/a.safetensors", "x/a.safetensors", "x\\a.safetensors", "c:a.safetensors", "..",
     "", "a\n.safetensors", "pytorch_model.bin", "a" * 300 + ".safetensors"],
)  # fmt: skip
def test_an_index_may_only_name_files_of_its_folder(tmp_path, file):
    write_index(tmp_path, {"x.w": file})
    with pytest.raises(CheckpointError, match=r"expected a \*\.safetensors file in the same folder"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("content", [{}, {"weight_map": []}, {"weight_map": {"x": 5}}, {"weight_map": {"x": ["a"]}}])
def test_an_index_without_a_sound_map(tmp_path, content):
    write_json(tmp_path / "model.safetensors.index.json", content)
    with pytest.raises(CheckpointError, match="no sound weight_map"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["", "a\nb", "a" * 2000, "\u202e"])
@pytest.mark.parametrize("with_shard", [True, False])
def test_an_index_may_only_name_what_a_tensor_can_be_called(tmp_path, name, with_shard):
    write_index(tmp_path, {"x.w": "a.safetensors", name: "a.safetensors"})
    if with_shard:
        write_safetensors(tmp_path / "a.safetensors", {"x.w": ("U8", (1,))})
    with pytest.raises(CheckpointError, match="expected 1 to 1024 printable characters"):
        open_checkpoint(tmp_path)


def test_equal_keys_in_an_index_are_a_problem(tmp_path):
    text = '{"weight_map": {"x.w": "a.safetensors", "x.w": "b.safetensors"}}'
    (tmp_path / "model.safetensors.index.json").write_text(text)
    assert kinds(open_checkpoint(tmp_path))["duplicate-key"].tensors == ("x.w",)


def test_a_broken_shard_stops(tmp_path):
    write_checkpoint(tmp_path, TENSORS, {}, shards=2)
    write_raw(tmp_path / "model-00002-of-00002.safetensors", b"{}", 5)
    with pytest.raises(CheckpointError, match=r"00002-of-00002\.safetensors: byte"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("config", [None, {}])
def test_other_formats_are_nothing_to_check(tmp_path, config):
    write_checkpoint(tmp_path, {}, config)
    (tmp_path / "model.safetensors").unlink()
    for name in ("pytorch_model-1.bin", "pytorch_model-2.bin", "x.gguf", "y.pt"):
        (tmp_path / name).touch()
    with pytest.raises(NothingToCheckError, match=r"only pytorch_model-1\.bin, .*, x\.gguf and 1 more"):
        open_checkpoint(tmp_path)


def test_an_empty_folder_is_nothing_to_check(tmp_path):
    with pytest.raises(NothingToCheckError, match="an empty folder; expected"):
        open_checkpoint(tmp_path)
    (tmp_path / "README.md").touch()
    with pytest.raises(NothingToCheckError, match=r"neither a safetensors file nor a config\.json"):
        open_checkpoint(tmp_path)
