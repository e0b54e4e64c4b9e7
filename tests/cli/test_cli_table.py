"""``qpolicy table`` and the folding of its rows."""

from pathlib import Path

from commandline import empty, healthy, policy, run, with_draft
from hypothesis import given
from hypothesis import strategies as st
from small import compressed, small_checkpoint

from qpolicy.cli.folding import Row, fold
from qpolicy.paths import Pattern


def lines(text: str) -> list[list[str]]:
    """The cells of a table's lines; cells are at least two blanks apart."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_folded_text(tmp_path: Path) -> None:
    ran = run("table", healthy(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    packed = "weight_packed i32, weight_scale bf16, weight_shape i64"
    assert lines(ran.out) == [
        ["target: 4 layers"],
        ["layer", "layers", "kind", "decision", "by", "on disk"],
        ["model.layers.0.self_attn.qkv_proj", "linear", "quantized", "list", packed],
        ["model.layers.{0..1}.mlp.down_proj", "2", "linear", "quantized", "list", packed],
        ["lm_head", "lm_head", "unquantized", "list", "weight bf16"],
    ]


def test_full_text_has_a_row_for_each_layer(tmp_path: Path) -> None:
    ran = run("table", healthy(tmp_path), "--full")
    assert [row[0] for row in lines(ran.out)[2:]] == [
        "model.layers.0.self_attn.qkv_proj",
        "model.layers.0.mlp.down_proj",
        "model.layers.1.mlp.down_proj",
        "lm_head",
    ]


def test_draft_has_its_own_section_with_both_names(tmp_path: Path) -> None:
    both = run("table", with_draft(tmp_path))
    assert "\n\ndraft: 3 layers\n" in both.out
    draft = run("table", tmp_path / "draft", "--draft")
    assert draft.out == both.out[both.out.index("draft: ") :]
    assert ["model.layers.0.mlp.gate_up_proj", "mtp.layers.0.mlp.gate_up_proj"] in [row[:2] for row in lines(draft.out)]
    assert run("table", tmp_path / "draft", "--target").out + "\n" + draft.out == both.out


def test_deciding_rule_is_named(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "lm_head: unquantized")
    ran = run("table", healthy(tmp_path), "--policy", file)
    assert lines(ran.out)[-1] == ["lm_head", "lm_head", "unquantized", "a.qpolicy:3", "weight bf16"]


def test_errors_are_told_below_the_table(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", 'lm_head: error "not this one"')
    ran = run("table", healthy(tmp_path), "--policy", file)
    assert ran.code == 1
    assert ran.out.endswith("error: lm_head: not this one\n")


def test_many_errors_are_bounded(tmp_path: Path) -> None:
    states = {f"model.blocks.{block}.down_proj": "packed" for block in range(14)}
    small_checkpoint(tmp_path / "deep", states, compressed())
    ran = run("table", tmp_path / "deep", "--policy", policy(tmp_path / "a.qpolicy", 'otherwise: error "no"'))
    assert ran.out.count("\nerror: ") == 10
    assert ran.out.endswith("and 4 more like these; --format json has all\n")


def test_json_document(tmp_path: Path) -> None:
    ran = run("table", with_draft(tmp_path), "--format", "json")
    assert ran.code == 0
    assert set(ran.json) == {"version", "layers", "drops"}
    assert (ran.json["version"], ran.json["drops"]) == (1, False)
    assert {
        "draft": True,
        "stored": "mtp.layers.0.mlp.gate_up_proj",
        "kind": "linear",
        "module": "model.layers.0.mlp.gate_up_proj",
        "action": "native",
        "outcome": "quantized",
        "scheme": None,
        "rule": None,
        "members": ["mtp.layers.0.mlp.gate_proj", "mtp.layers.0.mlp.up_proj"],
        "warnings": [],
        "on_disk": ["weight bf16"],
    } in ran.json["layers"]


def test_dropped_draft_says_so(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "drop mtp if unquantized_on_disk(@mtp)")
    ran = run("table", with_draft(tmp_path), "--policy", file)
    assert "draft: 3 layers, built without a quantization config\n" in ran.out


def test_nothing_to_list(tmp_path: Path) -> None:
    assert run("table", empty(tmp_path)).code == 3
    small_checkpoint(tmp_path / "norms", {"model.norm": "norm"}, compressed())
    ran = run("table", tmp_path / "norms")
    assert (ran.code, ran.out) == (3, "")
    assert "nothing to list" in ran.err


SEGMENTS = st.sampled_from(["a", "b", "0", "1", "2", "3", "007", "{}"])
ROWS = st.builds(
    Row,
    name=st.lists(SEGMENTS, min_size=1, max_size=4).map(".".join),
    stored=st.lists(SEGMENTS, min_size=1, max_size=4).map(".".join),
    kind=st.just("linear"),
    outcome=st.sampled_from(["quantized", "unquantized"]),
    by=st.just("list"),
    on_disk=st.just(""),
)


@given(st.lists(ROWS, unique_by=lambda row: row.name))
def test_folding_keeps_every_layer_and_its_outcome(rows: list[Row]) -> None:
    folded = fold(rows)
    assert sum(row.count for row in folded) == len(rows)
    for row in rows:
        if "{}" not in row.name:
            alike = [
                one for one in folded if (one.outcome, one.kind) == (row.outcome, row.kind) and "{}" not in one.name
            ]
            assert any(Pattern.parse(one.name).matches(row.name) for one in alike)


def test_only_rows_alike_fold() -> None:
    rows = [Row(f"a.{n}", f"b.{n + 7}", "linear", "quantized" if n != 3 else "error", "list", "") for n in range(6)]
    assert [(row.name, row.stored, row.count) for row in fold(rows)] == [
        ("a.{0..2,4..5}", "b.{7..9,11..12}", 5),
        ("a.3", "b.10", 1),
    ]
