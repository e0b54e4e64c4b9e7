"""The shipped policies and the examples' policies are whole, formatted policies that say what they are for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from qpolicy.lang import decode, parse
from qpolicy.lang.tree import Document, Drop, Expect, PatternRef, Rule, Selector
from qpolicy.lang.walk import selectors_of
from qpolicy.paths import Pattern
from qpolicy.resources import shipped

EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARY = sorted(shipped("policies").glob("*.qpolicy"), key=lambda path: path.stem)
POLICIES = [*LIBRARY, *sorted(EXAMPLES.glob("*/*.qpolicy"))]


def _parsed(path: Path) -> Document:
    return parse(decode(path.read_bytes(), path.name))


def _patterns(selectors: Iterable[Selector]) -> list[Pattern]:
    return [Pattern.parse(selector.text) for selector in selectors if isinstance(selector, PatternRef)]


def _selectors(document: Document) -> Iterator[Selector]:
    for statement in document.statements:
        yield from selectors_of(statement)


def test_the_library_holds_the_starting_policies() -> None:
    assert [path.stem for path in LIBRARY] == [
        "drop-mtp-if-experts-excluded",
        "keep-routers-and-heads",
        "trust-tensors",
        "trust-tensors-draft",
    ]


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_policy_parses_down_to_its_patterns(path: Path) -> None:
    document = _parsed(path)
    assert any(isinstance(statement, Rule | Drop) for statement in document.statements)
    _patterns(_selectors(document))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_every_library_policy_says_when_not_to_use_it(path: Path) -> None:
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert len(comments) >= 5
    assert any("Not for " in line for line in comments)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.qpolicy")), ids=lambda path: path.parent.name)
def test_every_example_policy_tests_itself(path: Path) -> None:
    assert any(isinstance(statement, Expect) for statement in _parsed(path).statements)


ROUTERS = (
    "model.layers.3.mlp.gate",
    "model.language_model.layers.3.mlp.gate",
    "mtp.layers.0.mlp.gate",
    "model.layers.3.block_sparse_moe.gate",
    "model.layers.3.mlp.router",
    "language_model.model.layers.3.feed_forward.router",
    "model.language_model.layers.3.router.proj",
    "backbone.layers.3.mixer.gate",
    "model.layers.3.mlp.gate.wg",
    "model.layers.3.mlp.router.gate",
    "transformer.blocks.3.ffn.router.layer",
    "model.layers.3.mlp.router.classifier",
    "model.layers.3.feed_forward.gate",
    "model.layers.3.mlp.gate.linear",
    "layers.3.ffn.gate",
)
HEADS = (
    "lm_head",
    "language_model.lm_head",
    "model.layers.61.shared_head.head",
    "model.embed_tokens",
    "model.language_model.embed_tokens",
    "transformer.wte",
    "model.mtp_layers.0.input_proj",
    "model.layers.3.mlp.shared_expert_gate",
)
NEIGHBOURS = (
    "model.layers.3.mlp.gate_proj",
    "model.layers.3.mlp.gate_up_proj",
    "model.layers.3.mlp.shared_expert.gate_proj",
    "model.layers.3.mlp.experts.0.gate_proj",
    "model.layers.3.self_attn.gate",
    "model.layers.3.self_attn.o_proj",
    "model.layers.3.per_layer_input_gate",
    "visual.merger.linear_fc1",
    "model.visual.pos_embed",
)


def _keep_patterns() -> list[Pattern]:
    return _patterns(_selectors(_parsed(shipped("policies") / "keep-routers-and-heads.qpolicy")))


@pytest.mark.parametrize("name", ROUTERS + HEADS)
def test_routers_and_heads_are_kept_in_each_spelling(name: str) -> None:
    assert any(pattern.matches(name) for pattern in _keep_patterns())


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_what_is_merely_spelt_alike_is_not_kept(name: str) -> None:
    assert not any(pattern.matches(name) for pattern in _keep_patterns())
