"""Every check, on a checkpoint that has the fault and on one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkpoints import write_index
from small import compressed, fp8, small_checkpoint

import qpolicy
from qpolicy.lint.checks import CHECKS
from qpolicy.lint.finding import Finding
from qpolicy.lint.run import run_checks

E = "model.layers.0.mlp.experts"
A = "model.layers.0.self_attn"
SOUND = {
    f"{A}.q_proj": "packed",
    f"{A}.k_proj": "packed",
    f"{A}.v_proj": "packed",
    f"{A}.o_proj": "packed",
    f"{E}.0.up_proj": "packed",
    f"{E}.1.up_proj": "packed",
    "model.layers.0.mlp.gate": "plain",
    "lm_head": "plain",
}
LISTED = ["lm_head", "model.layers.0.mlp.gate"]


def check(
    folder: Path,
    policy: str | None = None,
    ignore: list[str] = LISTED,
    arch: str = "Qwen3NextForCausalLM",
    **states: str,
) -> dict[str, list[Finding]]:
    """Run every check; states of single modules are given by their leaf, such as ``o_proj="plain"``."""
    changed = {name: states.get(name.rpartition(".")[2], state) for name, state in SOUND.items()}
    checkpoint = small_checkpoint(folder, changed, compressed(ignore), arch=arch)
    return by_code(checkpoint, policy)


def by_code(checkpoint: qpolicy.Checkpoint, policy: str | None) -> dict[str, list[Finding]]:
    loaded = None if policy is None else qpolicy.parse(f"qpolicy 1\n{policy}\n", filename="test.qpolicy")
    found: dict[str, list[Finding]] = {}
    for finding in run_checks(checkpoint, loaded).findings:
        found.setdefault(finding.code, []).append(finding)
    return found


def test_a_sound_checkpoint_has_no_findings(tmp_path: Path) -> None:
    assert not check(tmp_path)


def test_every_code_stands_for_one_check() -> None:
    codes = [check.code.code for check in CHECKS]
    names = [check.code.name for check in CHECKS]
    assert len(set(codes)) == len(codes) == len(set(names))


def test_qp201_plain_weights_for_a_packed_layer(tmp_path: Path) -> None:
    found = check(tmp_path, o_proj="plain")
    (finding,) = found.pop("QP201")
    assert (finding.severity, finding.modules, finding.fix) == ("error", (f"{A}.o_proj",), f"{A}.o_proj: unquantized")
    assert not found
    assert not check(tmp_path / "mended", finding.fix, o_proj="plain")


def test_qp201_is_a_warning_where_the_engine_may_not_ask(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, ignore=["lm_head"], arch="OtherForCausalLM")["QP201"]
    assert (finding.severity, finding.modules) == ("warning", ("model.layers.0.mlp.gate",))
    assert "without asking" in finding.message


def test_a_layer_that_the_engine_builds_without_asking_needs_no_entry(tmp_path: Path) -> None:
    assert not check(tmp_path, ignore=["lm_head"])


def test_qp202_packed_weights_for_a_layer_that_the_engine_builds_without_asking(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, "**.gate: quantized", gate="packed")["QP202"]
    assert (finding.severity, finding.modules) == ("error", ("model.layers.0.mlp.gate",))
    assert "sglang builds this layer without asking" in finding.message


def test_qp202_packed_weights_for_a_plain_layer(tmp_path: Path) -> None:
    found = check(tmp_path, ignore=[*LISTED, f"{A}.o_proj"])
    (finding,) = found.pop("QP202")
    assert (finding.modules, finding.fix) == ((f"{A}.o_proj",), f"{A}.o_proj: quantized")
    assert f"{A}.o_proj" in finding.message
    assert not found
    assert not check(tmp_path / "mended", finding.fix, ignore=[*LISTED, f"{A}.o_proj"])


def test_qp203_rules_that_split_a_fused_layer(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, "**.q_proj: unquantized", q_proj="plain")["QP203"]
    assert (finding.file, finding.line) == ("test.qpolicy", 2)
    assert f"target layer {A}.qkv_proj is one layer in the engine but" in finding.message
    assert finding.fix is not None
    assert finding.fix.startswith(f"requantize {A}.qkv_proj")


def test_qp203_proposes_what_is_stored(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, "**.q_proj: unquantized")["QP203"]
    assert finding.fix == f"{A}.qkv_proj: quantized"
    assert not check(tmp_path / "mended", finding.fix)


def test_qp204_the_policy_refuses(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, '**.o_proj: error "not here"')["QP204"]
    assert "not here" in finding.message
    assert (finding.file, finding.line, finding.column) == ("test.qpolicy", 2, 1)


def test_qp204_the_engine_refuses(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, SOUND, compressed(["lm_head"], targets=["re:.*mlp.*"]))
    modules = {name for finding in by_code(checkpoint, None)["QP204"] for name in finding.modules}
    assert f"{A}.o_proj" in modules


def test_qp205_a_pattern_that_matches_nothing(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, "**.mlp.expert: quantized\n")["QP205"]
    assert (finding.severity, finding.line, finding.column) == ("warning", 2, 1)
    assert "'experts', which would match 2 modules" in finding.message
    assert finding.fix == "**.mlp.experts"


def test_qp205_beside_patterns_that_match_is_only_a_remark(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, "lm_head, **.zebra: unquantized")["QP205"]
    assert finding.severity == "info"


def test_qp205_names_misspelt_syntax(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, "otherwize: native")["QP205"]
    assert finding.message == "otherwize matches no stored module; otherwise was probably meant"
    assert (finding.severity, finding.fix) == ("warning", "otherwise")


def test_qp206_a_condition_that_cannot_be_told(tmp_path: Path) -> None:
    write_index(tmp_path, {f"{A}.o_proj.weight": "model-00001-of-00002.safetensors"})
    found = by_code(qpolicy.open_checkpoint(tmp_path), "when dtype(weight) == bf16: unquantized")
    (finding,) = found["QP206"]
    assert finding.modules == (f"{A}.o_proj",)


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("has(weight_pakced)", "weight_packed"),
        ("not has(weight_packed, wieght_scale)", "weight_scale"),
        ("dtype(weight_shap) == i64", "weight_shape"),
        ("method == compressed_tensors", "compressed-tensors"),
        ("method in (fp8, Compressed-Tensors)", "compressed-tensors"),
        ("format == pack_quantized", "pack-quantized"),
    ],
)
def test_qp209_a_name_that_is_nearly_there(tmp_path: Path, condition: str, meant: str) -> None:
    (finding,) = check(tmp_path, f"**.zebra when {condition}: native")["QP209"]
    assert finding.message.endswith(f"is not in this checkpoint, but '{meant}' is")
    assert (finding.severity, finding.fix) == ("warning", f"write {meant}")


@pytest.mark.parametrize(
    "condition",
    [
        "has(weight_packed)",
        "has(weight_scale_inv)",
        "has(qweight)",
        "has(something_else)",
        "method == fp8",
        "method == mxfp4",
        "format == nvfp4-pack-quantized",
        "arch == Other",
    ],
)
def test_qp209_is_silent_about_other_checkpoints(tmp_path: Path, condition: str) -> None:
    assert "QP209" not in check(tmp_path, f"**.zebra when {condition}: native")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"expect {A}.o_proj: unquantized", "target layer"),
        ("expect model.layers.9.**: quantized", "selects no module"),
        (f"expect {A}.qkv_proj: error", "is quantized"),
    ],
)
def test_qp207_an_expectation_that_does_not_hold(tmp_path: Path, line: str, told: str) -> None:
    (finding,) = check(tmp_path, line)["QP207"]
    assert told in finding.message
    assert (finding.line, finding.column) == (2, 1)


def test_qp207_is_silent_where_expectations_hold(tmp_path: Path) -> None:
    assert not check(
        tmp_path, f"expect {A}.o_proj: quantized\nexpect **.experts: quantized\nexpect lm_head: unquantized"
    )


def test_qp208_an_index_without_its_shards(tmp_path: Path) -> None:
    write_index(tmp_path, {f"{A}.o_proj.weight": "model-00001-of-00002.safetensors"})
    assert "QP208" in by_code(qpolicy.open_checkpoint(tmp_path), None)


def test_qp301_an_entry_that_matches_nothing(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, ignore=[*LISTED, "model.layers.0.mlp.gatee"])["QP301"]
    assert "'gate', which would match 1 module" in finding.message
    assert finding.severity == "warning"


def test_qp301_is_silent_where_no_decision_asks_the_list(tmp_path: Path) -> None:
    policy = "when quantized_on_disk: quantized\n**: unquantized"
    assert "QP301" not in check(tmp_path, policy, ignore=[*LISTED, "model.layers.0.mlp.gatee"])


def test_qp304_half_of_the_experts(tmp_path: Path) -> None:
    found = check(tmp_path, ignore=[*LISTED, f"{E}.1.up_proj"])
    (finding,) = found["QP304"]
    assert finding.fix == f"{E}: quantized"
    assert not check(tmp_path / "mended", finding.fix, ignore=[*LISTED, f"{E}.1.up_proj"])


def test_qp306_half_of_a_fused_layer(tmp_path: Path) -> None:
    states = {name: "fp8" if state == "packed" else state for name, state in SOUND.items()}
    checkpoint = small_checkpoint(tmp_path, states, fp8([*LISTED, f"{A}.q_proj"]))
    found = by_code(checkpoint, None)
    assert {"QP204", "QP306"} & set(found)
    assert f"{A}.q_proj" in str(found)


def test_qp307_a_list_that_cannot_be_read(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, SOUND, {"quant_method": "somethingnew"})
    (finding,) = by_code(checkpoint, None)["QP307"]
    assert "somethingnew" in finding.message
    assert "QP307" not in by_code(checkpoint, "when quantized_on_disk: unquantized\n**: unquantized")


def test_qp401_a_draft_whose_names_are_not_known(tmp_path: Path) -> None:
    states = {**SOUND, "mtp.fc": "plain"}
    unknown = small_checkpoint(tmp_path / "unknown", states, compressed([*LISTED, "mtp.fc"]), arch="Other")
    known = small_checkpoint(tmp_path / "known", states, compressed([*LISTED, "mtp.fc"]))
    assert by_code(unknown, None)["QP401"][0].severity == "info"
    assert "QP401" not in by_code(known, None)
