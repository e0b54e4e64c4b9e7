"""What is proven about policies that a person can judge."""

from __future__ import annotations

import pytest

import qpolicy
from qpolicy.analysis import Proof, analyse, heads
from qpolicy.bind import drops


def prove(*lines: str) -> dict[int, Proof]:
    """The proofs of a policy by line; its first line is the second of the file."""
    policy = qpolicy.parse("\n".join(["qpolicy 1", *lines]) + "\n")
    return {proof.decider.line: proof for proof in analyse(policy).proofs}


def verdicts(*lines: str) -> list[str]:
    return [proof.verdict for proof in prove(*lines).values()]


def by(proof: Proof) -> list[int]:
    return [taken.by.line for taken in proof.taken]


def test_a_dead_rule_names_every_line_that_covers_it() -> None:
    proof = prove("a.b: native", "a.{c,d}: native", "e: native", "a.{b,c,d}: unquantized")[5]
    assert (proof.verdict, by(proof)) == ("dead", [2, 3])
    assert [taken.where.name for taken in proof.taken] == ["a.b", "a.c"]


def test_conditions_cover_together() -> None:
    assert verdicts("a when draft: native", "a when target: native", "a: unquantized") == ["live", "live", "dead"]
    assert verdicts("a when has(w): native", "a when not has(w): native", "a: unquantized") == ["live"] * 3


def test_unknown_facts_leave_something_over() -> None:
    proof = prove("when has(w): native", "when not has(w): native", "a: unquantized")[4]
    assert proof.witness is not None
    assert proof.witness.text == "a (the name has no tensors)"


def test_a_witness_is_shortest() -> None:
    proof = prove("a: native", "a.?: native", "a.b.**: unquantized")[4]
    assert proof.witness is not None
    assert proof.witness.name.count(".") == 2
    assert proof.witness.name.startswith("a.b.")


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("draft and target", "never"),
        ("draft or target", "live"),
        ("kind == moe and kind == linear", "never"),
        ("kind == moe and not kind in (moe, linear)", "never"),
        ("engine == x and engine == y", "never"),
        ("method == x and method == y", "never"),
        ("arch == x and arch == y", "live"),
        ("dtype(w) == bf16 and dtype(w) == f16", "never"),
        ("dtype(w) == bf16 and dtype(v) == f16", "live"),
        ("dtype(w) == bf16 and not has(w)", "never"),
        ("not dtype(w) == bf16 and not has(w)", "live"),
        ("has(a, b) and not has(b)", "never"),
        ("has(a) and not quantized_on_disk", "live"),
        ("not exists(p.q) and excluded(p.q)", "never"),
        ("not exists(p.q) and not excluded(p.q)", "never"),
        ("quantized_on_disk(p.q) and unquantized_on_disk(p.q)", "never"),
        ("not quantized_on_disk(p.q) and not unquantized_on_disk(p.q)", "live"),
        ("exists(p.q) and excluded(p.q) and not excluded(r)", "live"),
        ("path in a.** and path in b.**", "never"),
        ("path in a.** and not path in (a.*, a)", "never"),
    ],
)
def test_relations_between_facts(condition: str, verdict: str) -> None:
    assert verdicts(f"when {condition}: native") == [verdict]


def test_what_is_unknown_is_unknown_together() -> None:
    two = "not (has(w) or not has(w)) or not (has(v) or not has(v))"
    # Neither part is ever true: a fact that is unknown makes its negation unknown too.
    assert verdicts(f"when {two}: native") == ["never"]
    lines = ("a when has(w) or not has(w): native", "a when has(v) or not has(v): unquantized")
    assert verdicts(*lines) == ["live", "dead"]


def test_why_a_rule_never_applies() -> None:
    proofs = prove("when draft and target: native", "a.** when path in b.**: native")
    assert [proof.reason for proof in proofs.values()] == ["condition", "names"]


def test_a_rule_that_always_applies() -> None:
    proofs = prove("a: native", "**: native", "when draft or target: native", "when has(w) or not has(w): native")
    assert [proof.always for proof in proofs.values()] == [False, True, True, False]


def test_otherwise_is_for_layers_that_can_be_quantized() -> None:
    layers = "when kind in (linear, moe, lm_head): native"
    assert verdicts(layers, "otherwise: native") == ["live", "dead"]
    assert verdicts("when kind in (linear, moe): native", "otherwise: native") == ["live", "live"]


def test_drops_come_first() -> None:
    lines = ("drop mtp if draft", "mtp.fc when draft: quantized", "mtp.fc: native")
    assert verdicts(*lines) == ["live", "dead", "live"]


def test_the_head_of_a_dropped_draft_may_be_kept() -> None:
    lines = ("let s = mtp.**, lm_head", "drop @s if draft")
    proof = prove(*lines, "lm_head when draft: quantized")[4]
    assert proof.witness is not None
    assert "it is the head of the dropped draft" in proof.witness.facts
    assert verdicts(*lines, "lm_head when draft and not quantized_on_disk: native")[1] == "dead"
    assert verdicts(*lines, "mtp.lm_head when draft: quantized")[1] == "dead"


def test_heads_are_those_of_the_matcher() -> None:
    assert heads.HEADS == drops._HEADS
    assert set(map(str, heads.head_patterns())) >= {'"lm_head"', "model.layers.{0..}.shared_head.head"}


def test_experts_go_by_their_container() -> None:
    assert verdicts("**.mlp.experts: native", "**.mlp.experts.{0..}.up_proj: unquantized") == ["live", "dead"]
    assert verdicts("**.mlp.experts: native", "**.mlp.experts.gate_up_proj: unquantized") == ["live", "dead"]
    assert verdicts("**.mlp.experts: native", "**.mlp.experts.norm: unquantized") == ["live", "live"]
    assert verdicts("**.mlp.experts.{0..}.up_proj: native", "**.mlp.experts: unquantized") == ["live", "live"]


def test_fused_names_are_the_model_classs() -> None:
    # A class that fuses q, k and v lets the first rule decide them; another class does not.
    proof = prove("**.qkv_proj: native", "**.q_proj: unquantized")[3]
    assert (proof.verdict, by(proof)) == ("live", [2])
    assert proof.taken[0].where.also == ("qkv_proj",)
    assert verdicts("**.qkv_proj when path in **.q_proj: native") == ["live"]
    assert verdicts("**.o_proj when path in **.q_proj: native") == ["never"]


def test_layers_behind_the_targets_are_the_drafts_for_some_configs() -> None:
    assert verdicts("@mtp: native", "model.layers.61.**: unquantized") == ["live", "live"]
    assert verdicts("model.layers.61.**: native", "model.layers.61.** when path in @mtp: native") == ["live", "dead"]
    spelled = "mtp.**, model.mtp.**, language_model.mtp.**, mtp_layers.**, model.mtp_layers.**"
    late = prove(f"{spelled}, model.mtp_{{block,emb_norm,hidden_norm,linear_proj}}.**: native", "@mtp: unquantized")[3]
    assert late.witness is not None
    assert late.witness.facts == ("its layer is one of @mtp",)
