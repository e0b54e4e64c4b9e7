"""Draft names: what an engine asks, and the stored names that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import bound, compressed, small_checkpoint

from qpolicy.bind import asks
from qpolicy.bind.names import asked_name, stored_name
from qpolicy.bind.names_table import DraftRow, draft_row, draft_rows

NEXT = {
    "model.layers.0.mlp.up_proj": "packed",
    "mtp.layers.0.mlp.up_proj": "plain",
    "mtp.fc": "plain",
    "lm_head": "plain",
}
DEEPSEEK = {
    "model.layers.0.mlp.up_proj": "packed",
    "model.layers.4.mlp.up_proj": "plain",
    "model.layers.4.eh_proj": "plain",
    "model.layers.4.shared_head.head": "plain",
    "lm_head": "plain",
}
MISTRAL = {
    "layers.0.attention.wo": "plain",
    "layers.0.feed_forward.w1": "packed",
    "layers.0.feed_forward.w3": "packed",
    "tok_embeddings": "plain",
}
V4 = {
    "mtp.0.attn.wq_b": "plain",
    "mtp.0.ffn.shared_experts.w1": "packed",
    "mtp.0.ffn.shared_experts.w3": "packed",
    "mtp.0.ffn.shared_experts.w2": "packed",
    "mtp.1.attn.wq_b": "plain",
}
EAGLE = {"layers.0.self_attn.o_proj": "plain", "layers.0.mlp.down_proj": "plain", "embed_tokens": "plain"}

CASES = [
    ("Qwen3NextForCausalLM", NEXT, "model.layers.0.mlp.up_proj", "mtp.layers.0.mlp.up_proj"),
    ("Qwen3NextForCausalLM", NEXT, "mtp.layers.0.mlp.up_proj", "mtp.layers.0.mlp.up_proj"),
    ("Qwen3NextForCausalLM", NEXT, "model.shared_head.head", "lm_head"),
    ("Qwen3_5MoeForConditionalGeneration", NEXT, "mtp.layers.0.mlp.up_proj", "mtp.layers.0.mlp.up_proj"),
    ("DeepseekV3ForCausalLM", DEEPSEEK, "model.decoder.mlp.up_proj", "model.layers.4.mlp.up_proj"),
    ("DeepseekV3ForCausalLM", DEEPSEEK, "model.eh_proj", "model.layers.4.eh_proj"),
    ("DeepseekV3ForCausalLM", DEEPSEEK, "model.shared_head.head", "model.layers.4.shared_head.head"),
    ("DeepseekV3ForCausalLM", NEXT, "model.shared_head.head", "lm_head"),
    ("DeepseekV4ForCausalLM", V4, "model.decoder.self_attn.wq_b", "mtp.0.attn.wq_b"),
    ("DeepseekV4ForCausalLM", V4, "model.decoder.mlp.shared_experts.down_proj", "mtp.0.ffn.shared_experts.w2"),
    ("DeepseekV4ForCausalLM", V4, "stages.1.self_attn.wq_b", "mtp.1.attn.wq_b"),
    ("MistralLarge3ForCausalLMEagle", MISTRAL, "model.layers.0.self_attn.o_proj", "layers.0.attention.wo"),
    ("MistralLarge3ForCausalLMEagle", MISTRAL, "model.embed_tokens", "tok_embeddings"),
]
FUSED = [
    ("MistralLarge3ForCausalLMEagle", MISTRAL, "model.layers.0.mlp.gate_up_proj", "layers.0.feed_forward"),
    ("DeepseekV4ForCausalLM", V4, "model.decoder.mlp.shared_experts.gate_up_proj", "mtp.0.ffn.shared_experts"),
]


@pytest.mark.parametrize(("arch", "states", "asked", "stored"), CASES)
def test_a_drafts_name_is_translated(
    tmp_path: Path, arch: str, states: dict[str, str], asked: str, stored: str
) -> None:
    checkpoint = small_checkpoint(tmp_path, states, compressed(), arch=arch)
    row = draft_row("sglang", checkpoint.architectures)
    assert stored_name(row, checkpoint, asked, checkpoint.modules.__contains__) == stored


@pytest.mark.parametrize(("arch", "states", "asked", "stored"), FUSED)
def test_a_fused_layer_whose_parts_have_other_names_reaches_both(
    tmp_path: Path, arch: str, states: dict[str, str], asked: str, stored: str
) -> None:
    matcher = bound("", small_checkpoint(tmp_path, states, compressed(), arch=arch), draft=True)
    assert [member.name for member in matcher.decide(asked).members] == [f"{stored}.w1", f"{stored}.w3"]
    (ask,) = (ask for ask in asks(matcher) if ask.name == asked)
    assert [module.name for module in ask.modules] == [f"{stored}.w1", f"{stored}.w3"]


@pytest.mark.parametrize(("entry", "outcome"), [("layers.0.self_attn.o_proj", "quantized"), ("o_proj", "unquantized")])
def test_a_list_is_read_by_a_name_without_a_number_where_the_class_gives_none(
    tmp_path: Path, entry: str, outcome: str
) -> None:
    checkpoint = small_checkpoint(tmp_path, EAGLE, compressed([entry]), arch="DFlashDraftModel")
    assert bound("", checkpoint, draft=True).decide("layers.0.self_attn.o_proj").outcome == outcome


def test_both_spellings_of_a_draft_get_the_same_answer(tmp_path: Path) -> None:
    matcher = bound(
        "when not has(weight_packed): unquantized", small_checkpoint(tmp_path, NEXT, compressed()), draft=True
    )
    by_engine = matcher.decide("model.layers.0.mlp.up_proj")
    by_disk = matcher.decide("mtp.layers.0.mlp.up_proj")
    assert by_engine.outcome == by_disk.outcome == "unquantized"
    assert by_engine.members[0].name == by_disk.members[0].name == "mtp.layers.0.mlp.up_proj"


def test_the_list_is_read_by_the_engines_spelling_whichever_is_asked(tmp_path: Path) -> None:
    # The engine asks for the draft's layer by a name of the target's, and so the target's entry answers.
    matcher = bound("", small_checkpoint(tmp_path, NEXT, compressed(["model.layers.0.mlp.up_proj"])), draft=True)
    assert matcher.decide("model.layers.0.mlp.up_proj").outcome == "unquantized"
    assert matcher.decide("mtp.layers.0.mlp.up_proj").outcome == "unquantized"


def test_a_target_of_the_same_name_is_not_the_draft(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, NEXT, compressed())
    rule = "when not has(weight_packed): unquantized"
    assert bound(rule, checkpoint).decide("model.layers.0.mlp.up_proj").outcome == "quantized"


def test_a_draft_without_a_row_is_an_error_and_not_a_guess(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, NEXT, compressed(), arch="SomethingElse")
    matcher = bound("**: unquantized", checkpoint, draft=True)
    decision = matcher.decide("model.layers.0.mlp.up_proj")
    assert (decision.outcome, decision.problem) == ("error", "refused")
    assert "SomethingElse" in decision.reason
    assert matcher.decide("mtp.layers.0.mlp.up_proj").outcome == "unquantized"


def test_a_name_that_the_draft_class_never_asks_is_an_error(tmp_path: Path) -> None:
    matcher = bound("**: unquantized", small_checkpoint(tmp_path, NEXT, compressed()), draft=True)
    assert "Qwen3NextForCausalLMMTP asks no such name" in matcher.decide("model.decoder.mlp.up_proj").reason


def test_a_standalone_draft_has_its_own_names(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(
        tmp_path, {"midlayer.self_attn.o_proj": "plain"}, compressed(), arch="LlamaForCausalLMEagle3"
    )
    decision = bound("midlayer.**: unquantized", checkpoint, draft=True).decide("midlayer.self_attn.o_proj")
    assert (decision.outcome, decision.rule.line) == ("unquantized", 2)


@pytest.mark.parametrize("row", draft_rows(), ids=lambda row: row.draft_class)
def test_asking_and_storing_are_each_others_reverse(tmp_path: Path, row: DraftRow) -> None:
    arch = row.architectures[0]
    states = DEEPSEEK if arch.startswith("Deepseek") else EAGLE if row.standalone else NEXT
    states = MISTRAL if arch.startswith("Mistral") and row.renames else states
    checkpoint = small_checkpoint(tmp_path, states, compressed(), arch=arch)
    assert bool(checkpoint.draft_modules) is not row.standalone
    for stored in states if row.standalone else (module.name for module in checkpoint.draft_modules):
        asked = asked_name(row, checkpoint, stored)
        assert stored_name(row, checkpoint, asked, checkpoint.modules.__contains__) == stored


def test_the_names_that_an_engine_will_ask(tmp_path: Path) -> None:
    checkpoint = small_checkpoint(tmp_path, NEXT, compressed())
    target, draft = (asks(bound("", checkpoint, draft=draft)) for draft in (False, True))
    assert {ask.name for ask in target} == {"model.layers.0.mlp.up_proj", "lm_head"}
    assert {(ask.name, ask.stored) for ask in draft} == {
        ("model.layers.0.mlp.up_proj", "mtp.layers.0.mlp.up_proj"),
        ("fc", "mtp.fc"),
        ("model.shared_head.head", "lm_head"),
    }
