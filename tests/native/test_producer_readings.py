from __future__ import annotations

from typing import Any

import pytest

from qpolicy.native import Reading, producer_reading, read_config

PACKED = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
LAYER = "mtp.layers.0."
EXPERTS = [f"{LAYER}mlp.experts.{expert}.{leaf}_proj" for expert in range(4) for leaf in ("gate", "up", "down")]
METHODS = {"compressed-tensors": "ignore", "quark": "exclude", "fp8": "modules_to_not_convert"}


def _read(method: str, entries: list[str], **more: Any) -> Reading:
    return producer_reading(read_config({"quant_method": method, METHODS[method]: entries, **more}), PACKED)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("entry", "name", "excluded"),
    [
        (LAYER + "self_attn.qkv_proj", LAYER + "self_attn.q_proj", True),
        (LAYER + "self_attn.qkv_proj", LAYER + "self_attn.o_proj", False),
        (LAYER + "mlp.experts", LAYER + "mlp.experts.3.up_proj", True),
        (LAYER + "mlp.experts", LAYER + "mlp.experts.gate_up_proj", True),
        (LAYER + "mlp.experts.3.up_proj", LAYER + "mlp.experts.3.up_proj", True),
        (LAYER + "mlp.experts.3.up_proj", LAYER + "mlp.experts.2.up_proj", False),
        (LAYER + "mlp.experts.3.up_proj", LAYER + "mlp.experts.3.gate_proj", False),
        (LAYER + "mlp.experts_something", LAYER + "mlp.experts.3.up_proj", False),
        (LAYER + "mlp.gate", LAYER + "mlp.gate_proj", False),
        ("mtp.layers.1", "mtp.layers.11.mlp.gate", False),
    ],
)
def test_an_entry_covers_what_it_names_and_the_members_of_fused_and_container_modules(
    method: str, entry: str, name: str, excluded: bool
) -> None:
    reading = _read(method, ["lm_head", entry])
    answer = reading.ask(name, "moe" if ".experts." in name else "linear")
    assert answer.excluded is excluded
    assert [found.text for found in answer.entries] == ([entry] if excluded else [])
    assert [found.text for found in reading.matching(name, "linear")] == ([entry] if excluded else [])


@pytest.mark.parametrize(
    ("method", "entry", "name", "excluded"),
    [
        ("compressed-tensors", "mlp.gate", LAYER + "mlp.gate", False),
        ("compressed-tensors", "re:.*mlp.gate$", LAYER + "mlp.gate", True),
        ("compressed-tensors", "Linear", LAYER + "mlp.gate", True),
        ("compressed-tensors", "re:.*mlp.experts$", LAYER + "mlp.experts.0.up_proj", True),
        ("compressed-tensors", LAYER + "mlp.experts.0", LAYER + "mlp.experts.0.up_proj", False),
        ("quark", "*mlp.gate", LAYER + "mlp.gate", True),
        ("quark", "*.experts.*", LAYER + "mlp.experts.0.up_proj", True),
        ("quark", "re:.*mlp.gate$", LAYER + "mlp.gate", True),
        ("quark", "mlp.gate", LAYER + "mlp.gate", False),
        ("fp8", "mtp.layers.0", LAYER + "mlp.gate", True),
        ("fp8", "gate", LAYER + "mlp.shared_expert_gate", True),
        ("fp8", "mtp.layers.*gate", LAYER + "mlp.gate", True),
        ("fp8", "layers.0", LAYER + "mlp.gate", False),
    ],
)
def test_each_producer_writes_in_its_own_way(method: str, entry: str, name: str, excluded: bool) -> None:
    assert _read(method, [entry]).ask(name, "linear").excluded is excluded


def test_without_families_only_containers_cover_members() -> None:
    config = read_config({"quant_method": "quark", "exclude": ["a.qkv_proj", "a.experts"]})
    reading = producer_reading(config)
    assert not reading.ask("a.q_proj", "linear").excluded
    assert reading.ask("a.experts.0.w1", "moe").excluded


def test_older_transformers_took_siblings_too() -> None:
    from qpolicy.native import engine_reading

    config = read_config({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.1"]})
    name = "model.layers.11.mlp.down_proj"
    assert engine_reading(config, "transformers 5.19.0").ask(name, "linear").excluded
    assert not engine_reading(config, "transformers").ask(name, "linear").excluded


@pytest.mark.parametrize(
    ("exclude", "excluded"),
    [
        (EXPERTS, 12),
        (["mtp.fc", LAYER + "self_attn.q_proj"], 0),
        (EXPERTS[-1:], 1),
        ([LAYER + "mlp.experts_something"], 0),
    ],
    ids=["full", "dense only", "one expert", "lookalike"],
)
def test_the_case_of_the_partly_excluded_draft(exclude: list[str], excluded: int) -> None:
    reading = _read("quark", exclude)
    assert sum(reading.ask(name, "moe").excluded for name in EXPERTS) == excluded


def test_schemes_as_the_compressed_tensors_library_gives_them() -> None:
    groups = {
        "few": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8}},
        "rest": {"targets": ["Linear"], "weights": {"num_bits": 4}},
    }
    reading = _read("compressed-tensors", ["lm_head"], config_groups=groups)
    assert reading.ask("a.down_proj", "linear").scheme == "few"
    assert reading.ask("a.up_proj", "linear").scheme == "rest"
    assert reading.ask("embed_tokens", "embedding").outcome == "unquantized"
    assert reading.ask("lm_head", "lm_head").outcome == "unquantized"


def test_lists_under_another_dialects_key_were_meant_as_lists() -> None:
    config = read_config({"quant_method": "compressed-tensors", "ignored_layers": ["lm_head"]})
    assert producer_reading(config).ask("lm_head", "lm_head").excluded
