"""What was meant by a pattern that matches nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_strategies import names, patient, patterns

from qpolicy.paths import NameTree, Pattern, suggest
from qpolicy.paths.names import MAX_FORKS

NAMES = [
    "lm_head",
    "model.norm",
    *(
        f"model.layers.{layer}.{part}"
        for layer in range(4)
        for part in (
            "self_attn.q_proj",
            "self_attn.k_proj",
            "mlp.gate",
            *(f"mlp.experts.{expert}.up_proj" for expert in range(8)),
        )
    ),
    "visual.blocks.0",
]

# pattern, the place of the change, what to write there, the pattern after it, how many names it then matches
TABLE = [
    ("**.mlp.gates", 2, "gate", "**.mlp.gate", 4),
    ("lm_heads", 0, "lm_head", "lm_head", 1),
    ("model.layer.*.gate", 1, "layers", "model.layers.*.gate", 4),
    ("model.layers.*.self_attn.{q,k}_prj", 4, "{q_proj,k_proj}", "model.layers.*.self_attn.{q_proj,k_proj}", 8),
    ("**.expert*s_.?.up_proj", 1, "experts", "**.experts.?.up_proj", 32),
    ("model.layers.{4..}.mlp.gate", 2, "{0..3}", "model.layers.{0..3}.mlp.gate", 4),
    ("layers.*.gate", 0, "**.layers", "**.layers.*.gate", 4),
    ("model.layers.3.mlp.experts", 4, "experts.**", "model.layers.3.mlp.experts.**", 8),
    ("visual", 0, "visual.**", "visual.**", 1),
    ("model.layer.*.gat", 1, "layers", "model.layers.*.gat", 0),
]


@pytest.mark.parametrize(("pattern", "place", "instead", "replaced", "count"), TABLE)
def test_the_best_suggestion(pattern: str, place: int, instead: str, replaced: str, count: int) -> None:
    best = suggest(Pattern.parse(pattern), NAMES)[0]
    assert (best.segment_index, best.instead, best.replaced, best.count) == (
        place,
        instead,
        Pattern.parse(replaced),
        count,
    )
    assert best.written == str(Pattern.parse(pattern).elements[place])


def test_the_texts() -> None:
    assert suggest(Pattern.parse("**.gates"), NAMES)[0].text == "with `gate` for `gates` it matches 4 names"
    assert suggest(Pattern.parse("lm_heads"), NAMES)[0].text == "with `lm_head` for `lm_heads` it matches 1 name"
    nearest = suggest(Pattern.parse("model.layer.*.gat"), NAMES)[0].text
    assert nearest == "nothing fits `layer`; the nearest name there is `layers`"


def test_nothing_to_suggest() -> None:
    assert suggest(Pattern.parse("**.gate"), NAMES) == ()
    assert suggest(Pattern.parse("a"), []) == ()
    assert suggest(Pattern.parse("a"), ["", "a..b"]) == ()


def test_a_segment_that_no_pattern_spells_is_not_suggested() -> None:
    assert suggest(Pattern.parse("gate"), ['gat"', "gat\x07"]) == ()


@patient
@given(patterns(), st.lists(names(), max_size=12), st.integers(1, 4))
def test_every_suggestion_keeps_its_promise(pattern: Pattern, listed: list[str], limit: int) -> None:
    found = suggest(pattern, listed, limit)
    assert len(found) <= limit
    if any(map(pattern.matches, listed)):
        assert found == ()
    for each in found:
        assert each.count == sum(map(each.replaced.matches, set(listed)))
        assert Pattern.parse(str(each.replaced)) == each.replaced
        assert each.text


@patient
@given(patterns(), st.lists(names(), max_size=20))
def test_the_tree_counts_what_matches(pattern: Pattern, listed: list[str]) -> None:
    tree = NameTree(listed)
    assert tree.count(pattern) == sum(map(pattern.matches, set(listed)))
    assert suggest(pattern, tree) == suggest(pattern, listed)


def test_equal_tails_are_shared() -> None:
    listed = [f"layers.{layer}.experts.{expert}.up" for layer in range(50) for expert in range(50)]
    assert len(NameTree(listed).forks) == 6


def test_hostile_names_are_left_out_beyond_a_bound() -> None:
    tree = NameTree(f"{number}.{'x.' * (number % 7)}{number}" for number in range(MAX_FORKS))
    assert len(tree.forks) <= MAX_FORKS + 300
    assert NameTree([".".join("a" * 300), "b", "a\0b"]).count(Pattern.parse("**")) == 1
