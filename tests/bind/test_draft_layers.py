"""Drafts of several layers, each of which an engine builds as a model of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, small_checkpoint

import qpolicy
from qpolicy.bind import asks, decision_of, decisions_of, layers_of
from qpolicy.bind.draft_layers import draft_layers
from qpolicy.bind.names_table import draft_row
from qpolicy.lint.run import run_checks

PROJECTIONS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.down_proj")
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
BY_TENSORS = "when draft and not quantized_on_disk: unquantized"
# Where each architecture keeps its draft layers, the name under which its class asks for them, and its config.
DRAFTS = {
    "MiMoV2FlashForCausalLM": ("model.mtp.layers.{}", "model.decoder", {}),
    "GigaChat35ForCausalLM": ("model.layers.{}", "model.decoder", {"num_nextn_predict_layers": 3}),
    "Step3p5ForCausalLM": ("model.layers.{}", "model.mtp_block", {"num_nextn_predict_layers": 3}),
}


def three_layers(folder: Path, arch: str, odd: int | None) -> qpolicy.Checkpoint:
    """A checkpoint whose draft has three fp8 layers, one of them plain."""
    stored, _, config = DRAFTS[arch]
    first = 0 if ".mtp." in stored else 4
    states = {"model.layers.0.mlp.down_proj": "fp8", "lm_head": "plain"}
    for layer in range(3):
        state = "plain" if layer == odd else "fp8"
        states |= {f"{stored.format(first + layer)}.{part}": state for part in PROJECTIONS}
    return small_checkpoint(folder, states, FP8 | {"ignored_layers": ["lm_head"]}, arch=arch, **config)


@pytest.mark.parametrize("arch", DRAFTS)
def test_a_layer_asks_for_its_own_tensors(tmp_path: Path, arch: str) -> None:
    checkpoint, asked = three_layers(tmp_path, arch, odd=1), DRAFTS[arch][1]
    assert draft_layers(draft_row("sglang", [arch]), checkpoint) == (0, 1, 2)
    answers = {
        layer: bound(BY_TENSORS, checkpoint, draft=True, draft_layer=layer).decide(f"{asked}.mlp.down_proj")
        for layer in range(3)
    }
    assert [answer.outcome for answer in answers.values()] == ["quantized", "unquantized", "quantized"]
    stored = [answer.members[0].name for answer in answers.values()]
    assert [name in checkpoint.modules for name in stored] == [True] * 3
    assert len(set(stored)) == 3


@pytest.mark.parametrize("arch", DRAFTS)
def test_every_stored_layer_is_asked(tmp_path: Path, arch: str) -> None:
    matcher = bound(BY_TENSORS, three_layers(tmp_path, arch, odd=2), draft=True)
    layers = {ask.draft_layer: ask for ask in asks(matcher) if ask.name == f"{DRAFTS[arch][1]}.self_attn.qkv_proj"}
    assert [decision_of(matcher, ask).outcome for ask in layers.values()] == ["quantized", "quantized", "unquantized"]
    for ask in layers.values():
        assert [member.name for member in decision_of(matcher, ask).members] == [module.name for module in ask.modules]


@pytest.mark.parametrize("arch", DRAFTS)
@pytest.mark.parametrize("odd", range(3))
def test_the_fault_of_one_layer_is_found(tmp_path: Path, arch: str, odd: int) -> None:
    checkpoint = three_layers(tmp_path, arch, odd)
    found = [one for one in run_checks(checkpoint, None).findings if one.code == "QP201"]
    stored, _, _ = DRAFTS[arch]
    place = stored.format(odd if ".mtp." in stored else 4 + odd)
    if arch == "Step3p5ForCausalLM":
        assert not found  # its class builds these layers without asking
    else:
        assert {name for one in found for name in one.modules} == {f"{place}.{part}" for part in PROJECTIONS}
    mended = run_checks(checkpoint, qpolicy.parse(f"qpolicy 1\n{BY_TENSORS}\n"))
    assert not [one for one in mended.findings if one.code == "QP201"]


def test_a_name_is_decided_once_for_each_layer_that_it_reaches(tmp_path: Path) -> None:
    matcher = bound("", three_layers(tmp_path, "MiMoV2FlashForCausalLM", odd=None), draft=True)
    reached = [one.members[0].name for one in decisions_of(matcher, "model.decoder.mlp.down_proj")]
    assert reached == [f"model.mtp.layers.{layer}.mlp.down_proj" for layer in range(3)]
    assert len(decisions_of(matcher, "lm_head")) == len(decisions_of(matcher, "model.decoder.mlp.gone")) == 1
    assert len(decisions_of(matcher, "model.mtp.layers.2.mlp.down_proj")) == 1
    assert decisions_of(matcher, "no.such")[0].outcome == "error"


def test_a_dropped_layer_keeps_the_config_only_for_a_head_of_its_own(tmp_path: Path) -> None:
    states = {
        f"model.layers.{layer}.{part}": "fp8" if (layer, part) == (5, "shared_head.output") else "plain"
        for layer in (4, 5)
        for part in ("mlp.down_proj", "shared_head.output")
    }
    checkpoint = small_checkpoint(tmp_path, states, FP8, arch="Step3p5ForCausalLM", num_nextn_predict_layers=2)
    matcher = bound("drop mtp if draft", checkpoint, draft=True)
    assert [layer.drops for layer in layers_of(matcher)] == [True, False]
