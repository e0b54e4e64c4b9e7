"""The findings about a list as the engine reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checkpoints import write_json
from small import compressed, config, fp8, small_checkpoint

import qpolicy
from qpolicy.lint.finding import Finding
from qpolicy.lint.run import run_checks

L = "model.layers.0"


def found(checkpoint: qpolicy.Checkpoint, code: str, *engines: str, policy: str | None = None) -> list[Finding]:
    loaded = None if policy is None else qpolicy.parse(f"qpolicy 1\n{policy}\n")
    findings = run_checks(checkpoint, loaded, engine=engines or "sglang").findings
    return [finding for finding in findings if finding.code == code]


def gates(folder: Path, ignore: list[str], gate_proj: str = "packed", **more: Any) -> qpolicy.Checkpoint:
    states = {f"{L}.mlp.gate": "plain", f"{L}.mlp.gate_proj": gate_proj, f"{L}.mlp.up_proj": gate_proj}
    return small_checkpoint(folder, states, compressed(ignore), **more)


def test_qp302_a_packed_sibling_is_a_warning(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(
        tmp_path, {f"{L}.mlp.gate": "plain", f"{L}.mlp.gate_b": "packed"}, compressed(["re:.*mlp.gate"])
    )
    (finding,) = found(checkpoint, "QP302")
    assert (finding.severity, finding.modules) == ("warning", (f"{L}.mlp.gate_b",))
    assert "'re:.*mlp.gate'" in finding.message
    assert not found(checkpoint, "QP302", policy="**.gate: unquantized\notherwise: quantized")


def test_qp302_layer_eleven_for_layer_one(tmp_path: Path) -> None:
    states = {f"model.layers.{layer}.mlp.down_proj": "plain" for layer in (1, 11)}
    (finding,) = found(small_checkpoint(tmp_path, states, compressed(["re:model.layers.1.*"])), "QP302")
    assert (finding.severity, finding.modules) == ("info", ("model.layers.11.mlp.down_proj",))


@pytest.mark.parametrize("entry", ["re:.*mlp.*gate$", f"{L}.mlp.gate", "re:.*mlp.gate$"])
def test_qp302_is_silent_where_each_module_is_named(tmp_path: Path, entry: str) -> None:
    assert not found(gates(tmp_path, [entry]), "QP302")


def test_qp305_engines_that_read_a_list_differently(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, {"lm_head": "plain", f"{L}.mlp.down_proj": "fp8"}, fp8([]))
    (finding,) = found(checkpoint, "QP305", "sglang", "transformers")
    assert finding.modules == ("lm_head",)
    assert "transformers as quantized" in finding.message
    assert not found(checkpoint, "QP305", "sglang")
    assert not found(checkpoint, "QP305", "sglang", "transformers", policy="lm_head: unquantized")


def test_qp305_two_versions_of_an_engine(tmp_path: Path) -> None:
    states = {f"{L}.mlp.gate": "plain", f"{L}.mlp.down_proj": "fp8"}
    checkpoint = small_checkpoint(tmp_path, states, fp8(["mlp.down", "mlp.gate"]))
    (finding,) = found(checkpoint, "QP305", "sglang", "sglang 0.5.10")
    assert finding.modules == (f"{L}.mlp.down_proj",)
    assert "as quantized, sglang 0.5.10 as unquantized" in finding.message
    assert not found(checkpoint, "QP305", "sglang", "sglang 0.5.16")


def test_an_unknown_engine_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(qpolicy.BindError, match=r"'nonesuch' is not known; known: sglang 0\.5\.8 to "):
        found(gates(tmp_path, []), "QP305", "nonesuch")


def test_qp308_syntax_that_an_engine_does_not_know(tmp_path: Path) -> None:
    states = {f"{L}.mlp.gate": "plain", f"{L}.mlp.down_proj": "fp8"}
    checkpoint = small_checkpoint(tmp_path, states, fp8(["re:.*mlp.gate$", "*.nothing"]))
    (finding,) = found(checkpoint, "QP308")
    assert finding.modules == (f"{L}.mlp.gate",)
    assert "regular expression" in finding.message
    assert not any("re:" in one.message for one in found(checkpoint, "QP301"))
    assert not found(small_checkpoint(tmp_path / "both", states, fp8(["re:.*mlp.gate$", "mlp.gate"])), "QP308")


def test_qp309_a_draft_listed_by_its_stored_names_only(tmp_path: Path) -> None:
    states = {f"{L}.self_attn.o_proj": "fp8", "model.layers.4.self_attn.o_proj": "plain"}
    checkpoint = small_checkpoint(
        tmp_path, states, fp8(["model.layers.4.self_attn.o_proj"]), arch="DeepseekV3ForCausalLM"
    )
    (finding,) = found(checkpoint, "QP309")
    assert finding.modules == ("model.layers.4.self_attn.o_proj",)
    assert "model.decoder.self_attn.o_proj" in finding.message
    assert not found(checkpoint, "QP309", policy="@mtp: unquantized")


def test_qp309_a_draft_listed_by_a_number_that_is_not_stored(tmp_path: Path) -> None:
    states = {f"{L}.self_attn.o_proj": "fp8", "mtp.layers.0.self_attn.o_proj": "plain"}
    checkpoint = small_checkpoint(
        tmp_path, states, fp8(["model.layers.4.self_attn.o_proj"]), arch="Qwen3_5MoeForConditionalGeneration"
    )
    (finding,) = found(checkpoint, "QP309")
    assert "by its layer's number only" in finding.message


@pytest.mark.parametrize(("listed", "count"), [(["lm_head"], 0), ([], 1)])
def test_qp310_two_config_files(tmp_path: Path, listed: list[str], count: int) -> None:
    small_checkpoint(tmp_path, {"lm_head": "plain", f"{L}.mlp.down_proj": "fp8"}, fp8(["lm_head"]))
    write_json(tmp_path / "config.json", {**config(fp8(["lm_head"])), "compression_config": fp8(listed)})
    findings = found(qpolicy.open_checkpoint(tmp_path), "QP310")
    assert len(findings) == count
    assert all("'lm_head' only in config.json: quantization_config" in one.message for one in findings)
