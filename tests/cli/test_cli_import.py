"""``qpolicy import`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from checkpoints import write_json
from commandline import LAYERS, healthy, run, with_draft
from small import compressed, fp8, small_checkpoint

import qpolicy


def test_a_checkpoints_list_becomes_a_policy_that_was_compared(tmp_path: Path) -> None:
    ran = run("import", healthy(tmp_path))
    assert ran.code == 0
    assert "all 4 layers" in ran.err
    assert "every one of them was compared" in ran.out
    policy = qpolicy.parse(ran.out)
    matcher = policy.bind(qpolicy.open_checkpoint(tmp_path / "healthy"))
    assert matcher.decide("lm_head").outcome == "unquantized"
    assert matcher.decide("model.layers.0.mlp.down_proj").outcome == "quantized"


def test_what_the_entries_do_unexpectedly_is_said(tmp_path: Path) -> None:
    ignore = ["lm_head", "model.layers.7.nothing", "re:.*mlp.down", "Linear", "re:(?=x)y"]
    small_checkpoint(tmp_path / "odd", {**LAYERS, "model.layers.0.mlp.down": "plain"}, compressed(ignore))
    ran = run("import", tmp_path / "odd")
    assert "match nothing here:\n#   'model.layers.7.nothing' (quantization_config.ignore[1])" in ran.out
    assert "'re:.*mlp.down' (quantization_config.ignore[2]) catches model.layers.0.mlp.down_proj and 1 more" in ran.out
    assert "'Linear' (quantization_config.ignore[3]), which reads as a class" in ran.out
    assert "no pattern says them:\n#   're:(?=x)y'" in ran.out


def test_a_half_excluded_layer_stays_an_error(tmp_path: Path) -> None:
    states = {f"model.layers.0.self_attn.{name}_proj": "fp8" for name in "qkv"}
    checkpoint = small_checkpoint(tmp_path / "half", states, fp8(["model.layers.0.self_attn.q_proj"]))
    policy = qpolicy.parse(run("import", tmp_path / "half").out)
    decision = policy.bind(checkpoint).decide("model.layers.0.self_attn.qkv_proj")
    assert decision.outcome == "error"
    assert "only some parts" in decision.reason


def test_a_draft_is_imported_as_the_engine_asks_it(tmp_path: Path) -> None:
    folder = with_draft(tmp_path)
    ran = run("import", folder)
    assert "target and draft" in ran.out
    checkpoint = qpolicy.open_checkpoint(folder)
    imported = qpolicy.parse(ran.out)
    for draft in (False, True):
        alone = qpolicy.parse("qpolicy 1\n").bind(checkpoint, draft=draft)
        for module in checkpoint.modules.values():
            if module.kind and checkpoint.is_draft_name(module.name) == draft:
                told = imported.bind(checkpoint, draft=draft).decide(module.name, kind=module.kind)
                assert told.outcome == alone.decide(module.name, kind=module.kind).outcome


def test_a_config_alone_is_translated_and_says_that_it_was_not_compared(tmp_path: Path) -> None:
    gates = [f"model.layers.{layer}.mlp.gate" for layer in range(3)]
    file = write_json(
        tmp_path / "config.json", {"quantization_config": compressed(["lm_head", *gates, r"re:.*\.q_proj$"])}
    )
    ran = run("import", file)
    assert ran.code == 0
    assert "NOT compared" in ran.out
    assert "not compared with any module" in ran.err
    assert "**.model.layers.{0..2}.mlp.gate" in ran.out
    assert "*.q_proj: unquantized" in ran.out
    qpolicy.parse(ran.out)


def test_what_cannot_be_said_is_an_error_that_names_the_entry(tmp_path: Path) -> None:
    ran = run("import", write_json(tmp_path / "config.json", {"quantization_config": compressed(["re:(?!a).*"])}))
    assert ran.code == 1
    assert "re:(?!a).*" in ran.err
    assert "ERROR: not said" in ran.out


def test_a_config_is_compared_with_a_checkpoint_beside_it(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    file = write_json(tmp_path / "other.json", compressed(["lm_head", "re:.*down_proj"]))
    ran = run("import", file, "--checkpoint", folder, "--output", tmp_path / "new.qpolicy")
    assert ran.code == 0
    policy = qpolicy.load(tmp_path / "new.qpolicy")
    decision = policy.bind(qpolicy.open_checkpoint(folder)).decide("model.layers.0.mlp.down_proj")
    assert decision.outcome == "unquantized"


def test_a_file_is_replaced_only_with_force(tmp_path: Path) -> None:
    target = tmp_path / "my.qpolicy"
    target.write_text("mine")
    folder = healthy(tmp_path)
    assert run("import", folder, "--output", target).code == 2
    assert target.read_text() == "mine"
    assert run("import", folder, "--output", target, "--force").code == 0
    assert target.read_text().startswith("qpolicy 1\n")


def test_nothing_to_import(tmp_path: Path) -> None:
    small_checkpoint(tmp_path / "bare", LAYERS)
    assert run("import", tmp_path / "bare").code == 3
    assert run("import", write_json(tmp_path / "empty.json", {"a": 1})).code == 3
    ran = run("import", write_json(tmp_path / "new.json", {"quant_method": "somethingnew"}))
    assert (ran.code, "somethingnew" in ran.err) == (2, True)


def test_hostile_entries_cannot_leave_their_comment(tmp_path: Path) -> None:
    ignore = ["lm_head", "x\notherwise: unquantized\n#", "re:.*\n.*", "\u202e", "a" * 5_000]
    small_checkpoint(tmp_path / "hostile", LAYERS, compressed(ignore))
    for source in (tmp_path / "hostile", write_json(tmp_path / "c.json", json.loads(json.dumps(compressed(ignore))))):
        ran = run("import", source)
        assert ran.code in (0, 1)
        assert qpolicy.parse(ran.out)
        assert "\notherwise: unquantized" not in ran.out
        assert "\u202e" not in ran.out
