"""The table of segments: patterns, names that they match, names that they do not. Both engines and the reference."""

import pytest

from qpolicy.paths import PathSet, Pattern, PatternIndex, reference

TABLE = [
    ("lm_head", "lm_head", "LM_HEAD model.lm_head lm_head.weight lm_heads lm"),
    ("mlp.gate", "mlp.gate", "mlp.gate_proj mlp model.mlp.gate mlp.gate.x"),
    ('"odd name".x', "odd name.x", "odd.name.x"),
    ('a."b*"', "a.b*", "a.b a.bb"),
    ("{q,k,v}_proj", "q_proj k_proj v_proj", "o_proj q_proj_ {q,k,v}_proj qk_proj proj"),
    ("{a,b}_{c,d}", "a_c a_d b_c b_d", "a_b c_d a_cd"),
    ("indexer{,s}", "indexer indexers", "indexerss index"),
    ("l.{0..2}", "l.0 l.1 l.2", "l.3 l.00 l.01 l.10 l.-1 l l.0.x l.٢"),
    ("l.{0..2,60}", "l.0 l.2 l.60", "l.3 l.59 l.61 l.6 l.060"),
    ("l.{61..}", "l.61 l.99 l.100 l.123456789012345678901234567890", "l.60 l.9 l.061 l.61a"),
    ("l.{0..}", "l.0 l.7 l.10", "l.007 l.00 l.a l.1a l.+1"),
    ("l.007", "l.007", "l.7"),
    ("a.?.c", "a.b.c a.0.c", "a.c a.b.b.c a.b"),
    ("a.*.c", "a.b.c a.b.b.c a.c.c", "a.c a.c.b"),
    ("a.*", "a.b a.b.c", "a b.a ab"),
    ("a.**.c", "a.c a.b.c a.b.b.c", "a.b ac a.c.d"),
    ("a.**", "a a.b a.b.c", "ab b.a"),
    ("**", "a a.b", ""),
    ("*", "a a.b", ""),
    ("*.*", "a.b a.b.c", "a"),
    ("**.mlp.gate", "mlp.gate m.mlp.gate m.0.mlp.gate", "mlp.gate_proj m.mlp.gate.x xmlp.gate"),
    (
        "shared_expert*",
        "shared_expert shared_experts shared_expert_gate",
        "shared_exper a.shared_expert x.shared_expert.y",
    ),
    ("*_proj", "q_proj _proj", "q_proj_a proj a.q_proj"),
    ("a*b*c", "abc aXbYc abbc abcc aabbcc", "ab ac abcd acb"),
    ("a*a", "aa aba", "a ab"),
    ("{q,k}_proj*", "q_proj k_proj_a", "v_proj q_pro"),
    ("{,b}a*", "a ba bac ab", "b ca"),
    ("model.layers.1.**", "model.layers.1 model.layers.1.mlp", "model.layers.11 model.layers.11.mlp"),
    ("mtp.*.mlp.experts", "mtp.layers.0.mlp.experts", "mtp.layers.0.mlp.experts_something mtp.mlp.experts"),
    ("model.layers.*", "model.layers.0 model.layers.0.mlp", "model.layers"),
    ("**.**", "a a.b", ""),
    ("*.**.?", "a.b a.b.c", "a"),
]

CASES = [
    (pattern, name, expected)
    for pattern, yes, no in TABLE
    for expected, listed in ((True, yes), (False, no))
    # Two names of the table hold a space.
    for name in ([listed] if pattern.startswith('"') else listed.split())
]


@pytest.mark.parametrize(("pattern", "name", "expected"), CASES)
def test_each_engine_gives_the_answer_of_the_table(pattern: str, name: str, expected: bool) -> None:
    parsed = Pattern.parse(pattern)
    assert parsed.matches(name) is expected
    assert PatternIndex([[parsed]]).first(name) == (0 if expected else None)
    assert (name in PathSet.of(parsed)) is expected
    assert reference.matches(pattern, name) is expected


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "..."])
@pytest.mark.parametrize("pattern", ["**", "*", "?", "a.**", "**.a", "**.b", "*a*", "a.?.b", "a.**.b"])
def test_a_text_with_an_empty_segment_is_no_name(text: str, pattern: str) -> None:
    parsed = Pattern.parse(pattern)
    assert not parsed.matches(text)
    assert PatternIndex([[parsed]]).matches(text) == ()
    assert text not in PathSet.of(parsed)
    assert text not in ~PathSet.of(parsed)
    assert not reference.matches(pattern, text)
