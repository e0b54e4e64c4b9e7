"""The fast matcher and the slow reference decide random policies alike, with nothing shared but the tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small import compressed, small_checkpoint

import qpolicy
from qpolicy.bind import reference

STATES = {
    **{f"model.layers.{i}.self_attn.{p}_proj": "packed" for i in (0, 1, 11) for p in "qkv"},
    **{f"model.layers.{i}.mlp.{p}": "plain" for i in (0, 1, 11) for p in ("gate", "shared_expert_gate")},
    **{f"model.layers.1.mlp.experts.{e}.{p}_proj": "packed" for e in (0, 1, 10) for p in ("gate", "up", "down")},
    **{f"mtp.layers.0.mlp.experts.{e}.{p}_proj": "plain" for e in (0, 1) for p in ("gate", "up", "down")},
    "mtp.fc": "plain",
    "lm_head": "plain",
}
PATTERNS = [
    "**",
    "model.layers.1.**",
    "model.layers.{0..1}.**",
    "**.mlp.gate",
    "**.mlp.*gate",
    "**.qkv_proj",
    "**.{q,k}_proj",
    "**.experts",
    "**.experts.**",
    "mtp.*.mlp.experts",
    "@mtp",
    "@mtp.fc",
    "@mine",
    "?.fc",
    "*.nothing",
    "lm_head",
]
FACTS = [
    "draft",
    "target",
    "has(weight)",
    "has(weight_packed)",
    "quantized_on_disk",
    "excluded",
    "dtype(weight) == bf16",
    "kind == moe",
    "kind in (linear, lm_head)",
    "path in @mine",
    "engine == sglang",
    "method == fp8",
    *(
        f"{fact}({p})"
        for fact in ("excluded", "quantized_on_disk", "exists")
        for p in ("@mtp", "*.nothing", "**.experts")
    ),
]
WHOLE = [fact for fact in FACTS if "(" in fact and not fact.startswith(("has", "dtype", "kind"))] + ["draft", "target"]
DECISIONS = ["unquantized", "quantized", "native"]


def conditions(facts: list[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(facts),
        lambda inner: st.one_of(
            inner.map("not ({})".format),
            st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        ),
        max_leaves=4,
    )


selectors = st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3).map(", ".join)
heads = st.one_of(
    selectors,
    conditions(FACTS).map("when {}".format),
    st.tuples(selectors, conditions(FACTS)).map(lambda pair: f"{pair[0]} when {pair[1]}"),
)
rules = st.tuples(heads, st.sampled_from(DECISIONS)).map(": ".join)
drops = st.tuples(st.sampled_from(["mtp", "@mine"]), conditions(WHOLE)).map(lambda pair: f"drop {pair[0]} if {pair[1]}")
policies = st.tuples(
    st.just(["qpolicy 1", "let mine = model.layers.{1..}.**, mtp.*"]),
    st.lists(drops, max_size=1),
    st.lists(rules, max_size=6),
    st.sampled_from([[], ["otherwise: unquantized"]]),
).map(lambda parts: "\n".join(line for part in parts for line in part) + "\n")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[qpolicy.Checkpoint]:
    folder: Path = tmp_path_factory.mktemp("reference")
    ignore = ["lm_head", "re:.*mlp.gate$", "mtp.layers.0.mlp.experts.0.up_proj", "model.layers.1.self_attn.q_proj"]
    with pytest.MonkeyPatch.context() as patch:
        # The same few patterns meet the same few names in every example.
        patch.setattr(reference, "matches", cache(reference.matches))
        yield small_checkpoint(folder, STATES, compressed(ignore))


@given(text=policies, draft=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_find_the_same_rule_for_every_member(checkpoint: qpolicy.Checkpoint, text: str, draft: bool) -> None:
    policy = qpolicy.parse(text)
    matcher = policy.bind(checkpoint, draft=draft)
    world = matcher.binding.world
    asked = [name for name in STATES if checkpoint.is_draft_name(name) == draft]
    for name in asked:
        module = checkpoint.modules[name]
        member = matcher.decide(name, kind=module.kind).members[0]
        expected = reference.rule_for(policy.document, world, name, module.kind or "other")
        found = None if member.rule is None else member.rule.node
        assert found is expected, (name, text)
