"""``qpolicy decide`` and ``qpolicy explain``."""

from pathlib import Path

from commandline import healthy, policy, run, with_draft
from small import small_checkpoint


def test_decision_of_the_list(tmp_path: Path) -> None:
    ran = run("decide", healthy(tmp_path), "lm_head", "model.layers.0.self_attn.qkv_proj")
    assert (ran.code, ran.err) == (0, "")
    first, second = (block for block in ran.out.split("model.layers.0.self_attn.qkv_proj: ", 1))
    assert first.startswith("lm_head: unquantized (native), no rule decides\n")
    assert second.startswith("quantized (native), no rule decides\n")
    assert "stored: model.layers.0.self_attn.q_proj, model.layers.0.self_attn.k_proj" in second


def test_decision_of_a_rule(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "lm_head: unquantized")
    ran = run("decide", healthy(tmp_path), "lm_head", "--policy", file)
    assert ran.code == 0
    assert ran.out.startswith(f"lm_head: unquantized, by {file}:3:1\n  rule: lm_head: unquantized\n")


def test_json_document(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "lm_head:   unquantized")
    ran = run(
        "decide",
        healthy(tmp_path),
        "lm_head",
        "model.layers.0.self_attn.qkv_proj",
        "--policy",
        file,
        "--format",
        "json",
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {
        "version": 1,
        "decisions": [
            {
                "module": "lm_head",
                "action": "unquantized",
                "outcome": "unquantized",
                "scheme": None,
                "rule": {"file": str(file), "line": 3, "column": 1, "text": "lm_head: unquantized"},
                "members": ["lm_head"],
                "warnings": [],
            },
            {
                "module": "model.layers.0.self_attn.qkv_proj",
                "action": "native",
                "outcome": "quantized",
                "scheme": None,
                "rule": None,
                "members": [f"model.layers.0.self_attn.{one}_proj" for one in "qkv"],
                "warnings": [],
            },
        ],
        "drops": False,
    }


def test_refused_module_exits_with_1_and_says_why(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", 'lm_head: error "not this one"')
    text = run("decide", healthy(tmp_path), "lm_head", "--policy", file)
    assert text.code == 1
    assert "not this one" in text.out
    document = run("decide", tmp_path / "healthy", "lm_head", "--policy", file, "--format", "json")
    assert document.code == 1
    assert document.json["decisions"][0]["outcome"] == "error"
    assert document.err == "lm_head: lm_head: not this one\n"


def test_name_that_reaches_no_tensor_is_a_warning(tmp_path: Path) -> None:
    ran = run("decide", healthy(tmp_path), "model.layers.9.mlp.down_proj")
    assert ran.code == 1
    assert "  warning: model.layers.9.mlp.down_proj reaches no stored tensor" in ran.out


def test_draft_is_dropped(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "drop mtp if unquantized_on_disk(@mtp)")
    ran = run("decide", with_draft(tmp_path), "mtp.fc", "--draft", "--policy", file)
    assert ran.code == 0
    assert ran.out.endswith("this draft is built without a quantization config\n")
    assert (
        run("decide", tmp_path / "draft", "mtp.fc", "--draft", "--policy", file, "--format", "json").json["drops"]
        is True
    )
    assert run("decide", tmp_path / "draft", "lm_head", "--policy", file, "--format", "json").json["drops"] is False


def test_packed_family_is_taken_over_the_common_ones(tmp_path: Path) -> None:
    arguments = ("decide", healthy(tmp_path), "model.layers.0.self_attn.qk", "--format", "json")
    assert run(*arguments).json["decisions"][0]["members"] == ["model.layers.0.self_attn.qk"]
    members = run(*arguments, "--packed", "qk=q_proj,k_proj").json["decisions"][0]["members"]
    assert members == [f"model.layers.0.self_attn.{one}_proj" for one in "qk"]


def test_kind_reaches_the_conditions(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "when kind == moe: unquantized")
    arguments = ("decide", healthy(tmp_path), "model.layers.0.mlp.down_proj", "--policy", file, "--format", "json")
    assert run(*arguments).json["decisions"][0]["action"] == "native"
    assert run(*arguments, "--kind", "moe").json["decisions"][0]["action"] == "unquantized"


def test_unknown_engine(tmp_path: Path) -> None:
    for command in ("check", "table", "decide", "explain"):
        more = () if command in {"check", "table"} else ("lm_head",)
        ran = run(command, healthy(tmp_path, command), *more, "--engine", "sglange")
        assert (ran.code, ran.out) == (2, "")
        assert "engine 'sglange' is not known; known: sglang" in ran.err


def test_explanation_shows_clauses_and_nearest_miss(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "**.mlp.down when draft: unquantized\n**.mlp.? when draft: unquantized")
    ran = run("explain", healthy(tmp_path), "model.layers.0.mlp.down_proj", "--policy", file)
    assert (ran.code, ran.err) == (0, "")
    assert f"{file}:4:1: **.mlp.? when draft: unquantized  -> does not apply, its condition is false\n" in ran.out
    assert "draft is false\n" in ran.out
    assert "nearest miss: " in ran.out


def test_explanation_of_an_error_exits_with_1(tmp_path: Path) -> None:
    file = policy(tmp_path / "a.qpolicy", "model.layers.0.self_attn.q_proj: unquantized")
    ran = run("explain", healthy(tmp_path), "model.layers.0.self_attn.qkv_proj", "--policy", file)
    assert ran.code == 1
    assert "decided differently" in ran.out


def test_each_layer_of_a_draft_is_decided_by_itself(tmp_path: Path) -> None:
    name, stored = "model.decoder.mlp.down_proj", [f"model.mtp.layers.{layer}.mlp.down_proj" for layer in range(3)]
    fp8 = {"quant_method": "fp8", "activation_scheme": "dynamic"}
    folder = tmp_path / "checkpoint"
    small_checkpoint(folder, dict(zip(stored, ("fp8", "plain", "fp8"), strict=True)), fp8, arch="MiMoV2ForCausalLM")
    outcomes = ["quantized", "unquantized", "quantized"]
    asked = ("--draft", "--policy", policy(tmp_path / "a.qpolicy", "when not quantized_on_disk: unquantized"))
    decided = run("decide", folder, name, *asked, "--format", "json").json["decisions"]
    assert [(one["members"], one["outcome"]) for one in decided] == [
        ([one], outcome) for one, outcome in zip(stored, outcomes, strict=True)
    ]
    assert run("explain", folder, name, *asked).out.count(f"{name} (linear): ") == 3
    layers = run("table", folder, *asked, "--format", "json").json["layers"]
    assert [(one["stored"], one["outcome"]) for one in layers] == list(zip(stored, outcomes, strict=True))


def test_a_name_that_was_probably_meant_is_told(tmp_path: Path) -> None:
    checkpoint = with_draft(tmp_path)
    ran = run("decide", checkpoint, "lm_had", "model.layers.0.self_attn.qkvproj", "nowhere", "x..y", "lm_head")
    hints = [line for line in ran.out.splitlines() if "did you mean" in line]
    assert hints == ["  did you mean lm_head?", "  did you mean model.layers.0.self_attn.qkv_proj?"]
    ran = run("explain", checkpoint, "model.layers.0.mlp.gate_up_pro", "--draft")
    assert ran.out.endswith("\n  did you mean mtp.layers.0.mlp.gate_up_proj?\n")


def test_a_layer_without_weights_is_not_taken_for_a_misspelt_one(tmp_path: Path) -> None:
    ran = run("explain", healthy(tmp_path), "model.layers.0.mlp.down_pro", "--kind", "attention")
    assert "did you mean" not in ran.out
