"""On any small checkpoint the learned policy says what the tensors say, and takes no more patterns than modules."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from inferring import assert_agrees, findings, outcomes, patterns
from small import fp8, small_checkpoint

from qpolicy.analysis.inference import infer, infer_with_facts
from qpolicy.bind import no_policy

STEMS = ("model.layers", "mtp.layers", "model.language_model.layers")
LAYERS = ("self_attn.qkv", "self_attn.o_proj", "mlp.pregate", "mlp.down_proj", "mlp.experts", "mlp.odd name", "mlp.007")


@st.composite
def checkpoints(draw: st.DrawFn) -> dict[str, str]:
    """Modules with their states: each layer, each kind of module or each single module decides."""
    states = st.sampled_from(["plain", "fp8"])
    by = draw(st.sampled_from(["layer", "leaf", "both", "module"]))
    found = {"lm_head": "plain", "model.embed_tokens": "plain", "model.norm": "norm"}
    known: dict[object, str] = {}
    for stem in draw(st.lists(st.sampled_from(STEMS), min_size=1, max_size=2, unique=True)):
        leaves = draw(st.lists(st.sampled_from(LAYERS), min_size=1, unique=True))
        for layer in range(draw(st.integers(1, 4))):
            for leaf in leaves:
                key = {"layer": layer, "leaf": leaf, "both": (layer % 2, leaf), "module": (stem, layer, leaf)}[by]
                state = known.setdefault(key, draw(states))
                found |= dict.fromkeys(_modules(f"{stem}.{layer}.{leaf}"), state)
    return found


def _modules(name: str) -> list[str]:
    if name.endswith("experts"):
        return [f"{name}.{number}.up_proj" for number in range(2)]
    return [name.replace("qkv", f"{one}_proj") for one in "qkv"] if name.endswith("qkv") else [name]


@settings(max_examples=40, deadline=None)
@given(checkpoints())
def test_the_learned_policy_says_what_the_tensors_say(states: dict[str, str]) -> None:
    with TemporaryDirectory() as folder:
        checkpoint = small_checkpoint(Path(folder), states, fp8())
        learned = infer(checkpoint)
        assert_agrees(checkpoint, learned)
        assert not learned.unmet
        assert not findings(checkpoint, learned)
        plain = sum(checkpoint.modules[name].kind != "embedding" for name, state in states.items() if state == "plain")
        assert len(patterns(learned)) <= plain
        assert_agrees(checkpoint, infer_with_facts(checkpoint))


@settings(max_examples=15, deadline=None)
@given(checkpoints())
def test_learning_twice_gives_the_same_text(states: dict[str, str]) -> None:
    with TemporaryDirectory() as folder:
        checkpoint = small_checkpoint(Path(folder), states, fp8())
        assert infer(checkpoint).text == infer(checkpoint).text


@settings(max_examples=15, deadline=None)
@given(checkpoints(), st.data())
def test_a_policy_from_the_list_says_what_the_list_says(states: dict[str, str], data: st.DataObject) -> None:
    listed = data.draw(st.lists(st.sampled_from(sorted(states)), max_size=5, unique=True))
    with TemporaryDirectory() as folder:
        checkpoint = small_checkpoint(Path(folder), states, fp8(listed))
        learned = infer(checkpoint, listed=True)
        native = {name: outcome for name, outcome, _ in outcomes(checkpoint, no_policy())}
        decided = {name: outcome for name, outcome, _ in outcomes(checkpoint, learned.policy)}
        assert {name: outcome for name, outcome in native.items() if outcome != "error"}.items() <= decided.items()
