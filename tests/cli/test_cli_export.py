"""``qpolicy export`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checkpoints import write_checkpoint
from commandline import LAYERS, healthy, policy, run, with_draft
from hypothesis import given
from hypothesis import strategies as st
from small import PACKED, PLAIN, compressed, fp8, small_checkpoint

import qpolicy
from qpolicy.cli.splice import with_value

GATES = [f"model.layers.{layer}.mlp.gate" for layer in range(4)]
STATES = {**dict.fromkeys(GATES, "fp8"), **{f"model.layers.{layer}.mlp.gate_proj": "fp8" for layer in range(4)}}


def test_the_list_is_printed_and_is_short(tmp_path: Path) -> None:
    small_checkpoint(tmp_path / "c", STATES, fp8(GATES))
    ran = run("export", tmp_path / "c", "--to", "fp8")
    assert ran.code == 0
    assert ran.json == {"modules_to_not_convert": ["gate"]}
    assert "all 8 layers" in ran.err


def test_a_policy_is_exported_to_each_dialect(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    gates = policy(tmp_path / "p.qpolicy", "**.down_proj, lm_head: unquantized")
    for dialect, key in (("compressed-tensors", "ignore"), ("fp8", "modules_to_not_convert"), ("quark", "exclude")):
        ran = run("export", folder, "--to", dialect, "--policy", gates)
        assert ran.code == 0, ran.err
        (entries,) = ran.json.values()
        assert list(ran.json) == [key]
        assert len(entries) == 2
    ran = run("export", folder, "--to", "gptq", "--policy", gates)
    assert ran.json == {"dynamic": {"-:^model\\.layers\\.\\d+\\.mlp\\.down_proj$": {}}}


def test_write_exchanges_the_list_and_nothing_else(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    quantization = json.dumps(compressed(["lm_head", "model.layers.1.mlp.down_proj"]))
    before = f'{{\n   "eps":1e-6, "\u00e9": "\\u00e9",\n   "quantization_config": {quantization}\n}}\n\n'
    (folder / "config.json").write_text(before, encoding="utf-8")
    down = policy(tmp_path / "p.qpolicy", "**.down_proj, lm_head: unquantized")
    assert run("export", folder, "--to", "compressed-tensors", "--policy", down, "--write").code == 0
    after = (folder / "config.json").read_text(encoding="utf-8")
    start = before.index('["lm_head"')
    assert (after[:start], after[-4:]) == (before[:start], before[-4:])
    listed = json.loads(after)["quantization_config"]["ignore"]
    assert len(listed) == 2
    assert {**json.loads(after), "quantization_config": 0} == {**json.loads(before), "quantization_config": 0}
    assert run("export", folder, "--to", "compressed-tensors").json == {"ignore": listed}


def test_write_to_a_copy_leaves_the_checkpoint_alone(tmp_path: Path) -> None:
    folder, copy = healthy(tmp_path), tmp_path / "copy.json"
    before = (folder / "config.json").read_bytes()
    down = policy(tmp_path / "p.qpolicy", "**: unquantized")
    assert run("export", folder, "--to", "compressed-tensors", "--policy", down, "--write", "--output", copy).code == 0
    assert (folder / "config.json").read_bytes() == before
    assert json.loads(copy.read_text())["quantization_config"]["ignore"]


def test_write_needs_a_config_of_that_dialect(tmp_path: Path) -> None:
    ran = run("export", healthy(tmp_path), "--to", "fp8", "--write")
    assert (ran.code, "leave it out" in ran.err) == (2, True)


def test_what_a_dialect_cannot_say_names_the_modules(tmp_path: Path) -> None:
    folder = with_draft(tmp_path)
    split = policy(tmp_path / "p.qpolicy", "model.layers.0.self_attn.**: quantized\nmtp.**: unquantized")
    ran = run("export", folder, "--to", "compressed-tensors", "--policy", split)
    assert ran.code == 0, ran.err
    experts = {f"{stem}.mlp.experts.0.up_proj": state for stem, state in _EXPERTS.items()}
    small_checkpoint(tmp_path / "shared", {**LAYERS, **experts}, compressed(["lm_head"]))
    ran = run("export", tmp_path / "shared", "--to", "compressed-tensors", "--policy", split)
    assert ran.code == 1
    assert "mtp.layers.0.mlp.experts (asked as model.layers.0.mlp.experts)" in ran.err
    assert "by one name" in ran.err


_EXPERTS = {"model.layers.0": "packed", "mtp.layers.0": "plain"}


def test_a_refusal_cannot_be_exported(tmp_path: Path) -> None:
    refusing = policy(tmp_path / "p.qpolicy", 'lm_head: error "no"')
    ran = run("export", healthy(tmp_path), "--to", "compressed-tensors", "--policy", refusing)
    assert ran.code == 1
    assert "lm_head: no" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--to", "nonesuch"), 2),
        (("--to", "fp8", "--engine", "nonesuch"), 2),
        (("--to", "quark", "--engine", "autoawq"), 2),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    ran = run("export", healthy(tmp_path), *arguments)
    assert ran.code == code
    assert ran.err


def test_a_list_that_is_not_there_is_added(tmp_path: Path) -> None:
    quantization = {key: value for key, value in compressed().items() if key != "ignore"}
    tensors = {f"a.b.{own}": form for own, form in PACKED.items()} | {f"a.c.{own}": form for own, form in PLAIN.items()}
    write_checkpoint(tmp_path / "c", tensors, {"quantization_config": quantization})
    plain = policy(tmp_path / "p.qpolicy", "a.c: unquantized")
    assert run("export", tmp_path / "c", "--to", "compressed-tensors", "--policy", plain, "--write").code == 0
    checkpoint = qpolicy.open_checkpoint(tmp_path / "c")
    assert checkpoint.quantization == {**quantization, "ignore": ["c"]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=3), JSON, max_size=4),
    st.text(max_size=3),
    JSON,
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_one_value_is_exchanged_in_any_json(
    whole: dict[str, object], key: str, value: object, indent: str | None
) -> None:
    text = json.dumps({"before": 1, "inner": whole, "after": [2]}, indent=indent)
    found = json.loads(with_value(text, ("inner", key), value, "file"))
    assert found == {"before": 1, "inner": {**whole, key: value}, "after": [2]}
