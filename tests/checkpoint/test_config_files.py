import json
import math

import pytest
from checkpoints import write_json

from qpolicy.checkpoint.config import PLACES, read_configs
from qpolicy.checkpoint.jsonfile import SIZE_LIMIT
from qpolicy.errors import CheckpointError


def configs(folder, **files):
    for name, value in files.items():
        write_json(folder / f"{name}.json", value)
    return read_configs(folder)


def test_no_config_files(tmp_path):
    read = read_configs(tmp_path)
    assert not read.found
    assert (read.config, read.quantization, read.num_hidden_layers, read.draft_layers) == ({}, None, None, 0)


@pytest.mark.parametrize(
    ("files", "where"),
    [
        ({"config": {"quantization_config": {"quant_method": "fp8"}}}, "config.json: quantization_config"),
        (
            {"config": {"text_config": {"quantization_config": {"quant_method": "fp8"}}}},
            "config.json: text config's quantization_config",
        ),
        ({"config": {"compression_config": {"quant_method": "fp8"}}}, "config.json: compression_config"),
        ({"hf_quant_config": {"quantization": {"quant_algo": "FP8"}}}, "hf_quant_config.json: quantization"),
        ({"hf_quant_config": {"quant_method": "modelopt"}}, "hf_quant_config.json"),
        ({"quantize_config": {"bits": 4, "desc_act": True}}, "quantize_config.json"),
        ({"quant_config": {"w_bit": 4}}, "quant_config.json"),
        (
            {"quant_model_description": {"model_quant_type": "W8A8", "lm_head.weight": "FLOAT"}},
            "quant_model_description.json",
        ),
        ({"config": {"quantization": {"bits": 4, "group_size": 64}}}, "config.json: quantization"),
        ({"params": {"quantization": {"qformat_weight": "fp8_e4m3"}}}, "params.json: quantization"),
        ({"config": {"quant_method": "gptq", "bits": 4}}, "config.json"),
    ],
)
def test_each_place_of_a_quantization_config(tmp_path, files, where):
    read = configs(tmp_path, **files)
    assert read.quantization_file == where
    assert read.quantization_places == {where: read.quantization}
    assert read.quantization


def test_the_first_place_counts_and_all_are_kept(tmp_path):
    read = configs(
        tmp_path,
        config={"compression_config": {"quant_method": "b"}, "quantization_config": {"quant_method": "a"}},
        hf_quant_config={"quantization": {"quant_algo": "c"}},
        quantize_config={"bits": 4},
    )
    assert read.quantization == {"quant_method": "a"}
    assert list(read.quantization_places) == [
        "config.json: quantization_config",
        "config.json: compression_config",
        "hf_quant_config.json: quantization",
        "quantize_config.json",
    ]
    assert len({str(place) for place in PLACES}) == len(PLACES)


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_an_empty_quantization_config_is_none(tmp_path, nothing):
    read = configs(tmp_path, config={"quantization_config": nothing})
    assert read.quantization is None
    assert read.problems == ()


def test_a_quantization_config_of_a_wrong_type_is_a_problem(tmp_path):
    read = configs(tmp_path, config={"quantization_config": "fp8"})
    assert read.quantization is None
    assert [problem.kind for problem in read.problems] == ["ignored-value"]
    assert "config.json: quantization_config is a JSON str, expected an object" in read.problems[0].message


@pytest.mark.parametrize("name", ["text_config", "llm_config", "language_config", "thinker_config"])
def test_the_text_config_is_found(tmp_path, name):
    read = configs(tmp_path, config={name: {"num_hidden_layers": 7}, "vision_config": {"num_hidden_layers": 3}})
    assert read.text_config == {"num_hidden_layers": 7}
    assert read.num_hidden_layers == 7


def test_a_thinker_nests_once_more(tmp_path):
    nested = {"thinker_config": {"text_config": {"num_hidden_layers": 5}}, "text_config": {"num_hidden_layers": 9}}
    assert configs(tmp_path, config=nested).num_hidden_layers == 5


@pytest.mark.parametrize("empty", [None, {}, [], "x"])
def test_an_empty_text_config_is_the_config_itself(tmp_path, empty):
    read = configs(tmp_path, config={"text_config": empty, "n_layer": 4})
    assert read.text_config is read.config
    assert read.num_hidden_layers == 4


@pytest.mark.parametrize("wrong", [True, "61", -1, 1.5, None, 10**9])
def test_a_senseless_layer_count_is_none(tmp_path, wrong):
    assert configs(tmp_path, config={"num_hidden_layers": wrong}).num_hidden_layers is None


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({"num_nextn_predict_layers": 3}, 3),
        ({"text_config": {"mtp_num_hidden_layers": 1}}, 1),
        ({"num_nextn_predict_layers": 0, "text_config": {"num_nextn_predict_layers": 0}}, 0),
        ({"num_nextn_predict_layers": 0, "num_mtp_modules": 3}, 3),
        ({"num_mtp_layers": 2}, 2),
        ({"num_nextn_predict_layers": 1, "text_config": {"hidden_size": 8}}, 1),
    ],
)
def test_draft_layers(tmp_path, config, count):
    assert configs(tmp_path, config=config).draft_layers == count


def test_mistral_params_stand_in_for_a_config(tmp_path):
    assert configs(tmp_path, params={"n_layers": 9}).num_hidden_layers == 9
    assert configs(tmp_path, config={"num_hidden_layers": 4}).num_hidden_layers == 4


def test_ties(tmp_path):
    assert configs(tmp_path, config={"tie_word_embeddings": True}).tie_word_embeddings is True
    nested = {"tie_word_embeddings": True, "text_config": {"tie_word_embeddings": False}}
    assert configs(tmp_path, config=nested).tie_word_embeddings is False
    assert configs(tmp_path, config={"tie_word_embeddings": "yes"}).tie_word_embeddings is None


def test_architectures(tmp_path):
    assert configs(tmp_path, config={"architectures": ["A", 5, "B"]}).architectures == ("A", "B")
    assert configs(tmp_path, config={"architectures": "A"}).architectures == ()


def test_the_last_of_equal_keys_counts_and_is_a_problem(tmp_path):
    (tmp_path / "config.json").write_text('{"num_hidden_layers": 1, "num_hidden_layers": 2, "a": {"b": 1, "b": 1}}')
    read = read_configs(tmp_path)
    assert read.num_hidden_layers == 2
    assert [(problem.kind, problem.tensors) for problem in read.problems] == [
        ("duplicate-key", ("b", "num_hidden_layers"))
    ]


def test_not_a_number_is_taken_as_published(tmp_path):
    (tmp_path / "config.json").write_text('{"time_step_limit": [0.0, Infinity], "x": NaN}')
    config = read_configs(tmp_path).config
    assert config["time_step_limit"] == [0.0, math.inf]
    assert math.isnan(config["x"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1:1: Expecting value"),
        (b'{\n  "a": 1,\n  b\n}', ":3:3: Expecting property name"),
        (b'{"a": 1', ":1:8: Expecting"),
        (b'{"a":\n "\xc3("}', ":2:3: the byte 0xc3 is not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', ":1:1: a byte order mark"),
        (b"[1]", ":1:1: found a JSON list; expected an object"),
        (b'{"a":' * 100_000, ": the JSON is nested too deeply"),
        (b'{"a": "\\ud800"}', ": an escaped half of a character"),
        (b'{"a": ' + b"9" * 5000 + b"}", ": a number of thousands of digits"),
        (b"[" + b"[]," * 1_000_000 + b"0]", ": more than 1000000 lists and objects"),
    ],
)
@pytest.mark.parametrize("name", ["config.json", "hf_quant_config.json", "quantize_config.json"])
def test_broken_json_names_line_and_column(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_configs(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name}{message}")
    assert "expected" in str(caught.value)


def test_a_huge_file_is_refused_unread(tmp_path):
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(SIZE_LIMIT + 1)
    with pytest.raises(CheckpointError, match=f"expected at most {SIZE_LIMIT}"):
        read_configs(tmp_path)


def test_more_keys_than_any_index_has_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("qpolicy.checkpoint.jsonfile._KEY_LIMIT", 1)
    write_json(tmp_path / "config.json", {"a": 1, "b": 2})
    with pytest.raises(CheckpointError, match="more than 1 keys"):
        read_configs(tmp_path)


def test_a_folder_in_place_of_a_config(tmp_path):
    (tmp_path / "config.json").mkdir()
    with pytest.raises(CheckpointError, match="not a regular file"):
        read_configs(tmp_path)


def test_escaped_characters_are_whole(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"a": "\U0001f600"}))
    assert read_configs(tmp_path).config == {"a": "\U0001f600"}
