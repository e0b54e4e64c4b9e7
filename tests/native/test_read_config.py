from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qpolicy.errors import QPolicyError
from qpolicy.native import NativeConfigError, read_config


def test_compressed_tensors_keeps_entries_with_their_places() -> None:
    config = read_config(
        {
            "quant_method": "compressed-tensors",
            "format": "mixed-precision",
            "ignore": ["lm_head", "re:.*gate$"],
            "config_groups": {
                "group_0": {"targets": ["Linear"], "weights": {"num_bits": 4}, "format": "pack-quantized"},
                "attention": {"targets": ["re:.*self_attn.*"], "weights": None},
            },
        }
    )
    assert (config.dialect, config.method, config.format) == (
        "compressed-tensors",
        "compressed-tensors",
        "mixed-precision",
    )
    assert [(entry.text, entry.where) for entry in config.entries] == [
        ("lm_head", "quantization_config.ignore[0]"),
        ("re:.*gate$", "quantization_config.ignore[1]"),
    ]
    assert config.schemes == ("group_0", "attention")
    assert [group.quantizes for group in config.groups] == [True, False]
    assert config.groups[1].targets[0].where == "quantization_config.config_groups.attention.targets[0]"


@pytest.mark.parametrize("method", ["compressed-tensors", "compressed_tensors", "sparseml", "Compressed-Tensors"])
def test_every_spelling_of_compressed_tensors(method: str) -> None:
    config = read_config({"quant_method": method})
    assert (config.dialect, config.method) == ("compressed-tensors", method)


@pytest.mark.parametrize("published", [{}, {"ignore": None}, {"ignore": []}, {"config_groups": None}])
def test_lists_may_be_missing_null_or_empty(published: dict[str, Any]) -> None:
    config = read_config({"quant_method": "compressed-tensors", "sparsity_config": {}, **published})
    assert (config.entries, config.schemes) == ((), ())
    assert config.lists == tuple(key for key in published if key == "ignore")


def test_quark_keeps_every_scheme() -> None:
    config = read_config(
        {
            "quant_method": "quark",
            "exclude": ["lm_head"],
            "layer_quant_config": {"*q_proj": {"weight": {"dtype": "fp8_e4m3"}}},
            "layer_type_quant_config": {"Linear": {"weight": None}},
            "global_quant_config": {"weight": {"dtype": "fp4"}},
        }
    )
    assert config.dialect == "quark"
    assert [(group.name, group.role, group.quantizes) for group in config.groups] == [
        ("*q_proj", "layer", True),
        ("Linear", "type", False),
        ("global", "global", True),
    ]
    assert config.schemes == ()


@pytest.mark.parametrize("method", ["fp8", "FP8", "mxfp8"])
def test_fp8_knows_each_key_of_its_list(method: str) -> None:
    published = {
        "ignored_layers": ["a"],
        "modules_to_not_convert": ["b"],
        "ignore": ["c"],
        "weight_block_size": [128, 128],
    }
    config = read_config({"quant_method": method, **published})
    assert (config.dialect, config.method) == ("fp8", method)
    assert [(entry.text, entry.key) for entry in config.entries] == [
        ("a", "ignored_layers"),
        ("b", "modules_to_not_convert"),
        ("c", "ignore"),
    ]


@pytest.mark.parametrize(
    ("quantization", "dialect"),
    [
        ({"quant_method": "vptq", "modules_to_not_convert": ["gate"]}, "unknown:vptq"),
        ({"bits": 4}, "unknown:unnamed"),
    ],
)
def test_what_is_not_known_is_not_guessed(quantization: dict[str, Any], dialect: str) -> None:
    config = read_config(quantization)
    assert (config.dialect, config.entries) == (dialect, ())


@pytest.mark.parametrize(
    ("quantization", "place"),
    [
        ({"quant_method": "compressed-tensors", "ignore": "lm_head"}, "file.ignore:"),
        ({"quant_method": "compressed-tensors", "ignore": ["a", "b", "c", 7]}, "file.ignore[3]:"),
        ({"quant_method": "compressed-tensors", "config_groups": ["a"]}, "file.config_groups:"),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": 1}}, "file.config_groups.g:"),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"g": {"targets": [None]}}},
            "file.config_groups.g.targets[0]:",
        ),
        ({"quant_method": "quark", "exclude": {"a": 1}}, "file.exclude:"),
        ({"quant_method": "quark", "layer_quant_config": {"*": "fp8"}}, "file.layer_quant_config.*:"),
        ({"quant_method": "fp8", "ignored_layers": [["a"]]}, "file.ignored_layers[0]:"),
        ({"quant_method": ["fp8"]}, "file.quant_method:"),
        ([1], "file:"),
    ],
)
def test_a_wrong_type_is_an_error_that_names_the_place(quantization: Any, place: str) -> None:
    with pytest.raises(NativeConfigError) as caught:
        read_config(quantization, where="file")
    first = str(caught.value).splitlines()[0]
    assert first.startswith(place)
    assert "expected" in first
    assert "found" in first


def test_a_million_mistakes_are_not_a_million_lines() -> None:
    with pytest.raises(NativeConfigError) as caught:
        read_config({"quant_method": "fp8", "ignored_layers": list(range(100_000))})
    assert len(str(caught.value).splitlines()) == 11
    assert "99990 more" in str(caught.value)


def _anything() -> st.SearchStrategy[Any]:
    leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
    return st.recursive(
        leaf, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=4), part, max_size=3)
    )


KEYS = (
    "ignore",
    "exclude",
    "ignored_layers",
    "config_groups",
    "layer_quant_config",
    "sparsity_config",
    "format",
    "export",
)


@given(
    st.sampled_from(("compressed-tensors", "quark", "fp8", "modelopt", "awq", "humming", "vptq")),
    st.dictionaries(st.sampled_from(KEYS), _anything()),
)
def test_no_config_ends_in_a_traceback(method: str, published: dict[str, Any]) -> None:
    try:
        config = read_config({"quant_method": method, **json.loads(json.dumps(published))})
    except QPolicyError as error:
        assert "expected" in str(error)
    else:
        assert all(isinstance(entry.text, str) for entry in config.entries)


def test_a_config_nested_without_end_is_refused() -> None:
    scheme: Any = {}
    for _ in range(100_000):
        scheme = {"weight": [scheme]}
    with pytest.raises(NativeConfigError, match="nested too deeply"):
        read_config({"quant_method": "quark", "layer_quant_config": {"*": scheme}})
