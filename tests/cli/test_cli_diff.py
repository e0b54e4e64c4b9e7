"""``qpolicy diff``: two policies, and what changes on a checkpoint."""

from pathlib import Path

from commandline import policy, run, with_draft


def test_equivalent(tmp_path: Path) -> None:
    one = policy(tmp_path / "a.qpolicy", "a, b: unquantized")
    other = policy(tmp_path / "b.qpolicy", "b: unquantized\na: unquantized")
    ran = run("diff", one, other)
    assert (ran.code, ran.out, ran.err) == (0, f"equivalent: {one} and {other} decide every module alike\n", "")


def test_different_names_module_facts_and_rules(tmp_path: Path) -> None:
    one = policy(tmp_path / "a.qpolicy", "mtp.fc when draft: unquantized")
    other = policy(tmp_path / "b.qpolicy", "lm_head.x.y.z: native")
    ran = run("diff", one, other)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        f"different: {one} and {other} decide the module mtp.fc (draft) differently",
        f"  {one}:3:1: mtp.fc when draft: unquantized",
        f"  {other}: no rule decides, so the list does (native)",
    ]


def test_changes_on_a_checkpoint(tmp_path: Path) -> None:
    one = policy(tmp_path / "a.qpolicy", "when draft: unquantized")
    other = policy(tmp_path / "b.qpolicy", "mtp.fc: unquantized")
    checkpoint = with_draft(tmp_path)
    ran = run("diff", one, other, checkpoint)
    assert ran.code == 1
    [head, change] = ran.out.splitlines()[3:]
    assert head == f"1 layer of {checkpoint} changes:"
    assert change.startswith(f"  draft: unquantized ({one}:3:1) becomes quantized")
    assert change.endswith(": model.layers.0.mlp.gate_up_proj") or "gate_up_proj" in change


def test_no_change_on_a_checkpoint(tmp_path: Path) -> None:
    one = policy(tmp_path / "a.qpolicy", "x: native")
    checkpoint = with_draft(tmp_path)
    ran = run("diff", one, one, checkpoint)
    assert ran.code == 0
    assert ran.out.endswith(f"no layer of {checkpoint} changes\n")


def test_json(tmp_path: Path) -> None:
    one = policy(tmp_path / "a.qpolicy", "**.qkv_proj: unquantized\n**.q_proj: quantized")
    other = policy(tmp_path / "b.qpolicy", "**.q_proj: quantized\n**.qkv_proj: unquantized")
    ran = run("diff", one, other, "--format", "json")
    assert ran.code == 1
    found = ran.json
    assert (found["version"], found["equivalent"], found["changes"]) == (1, False, None)
    difference = found["difference"]
    assert (difference["module"], difference["fused"], difference["facts"]) == ("q_proj", ["qkv_proj"], [])
    assert (difference["first"]["line"], difference["second"]["line"]) == (3, 3)


def test_undecided_is_no_clean_exit(tmp_path: Path) -> None:
    one = policy(tmp_path / "a.qpolicy", f"**.a{'.?' * 14}: native")
    other = policy(tmp_path / "b.qpolicy", f"**.b{'.?' * 14}: native")
    ran = run("diff", one, other)
    assert ran.code == 1
    assert ran.out.startswith("undecided: whether ")


def test_broken_policy(tmp_path: Path) -> None:
    good, bad = policy(tmp_path / "a.qpolicy", "a: native"), policy(tmp_path / "b.qpolicy", "a: nativ")
    ran = run("diff", good, bad)
    assert (ran.code, ran.out) == (2, "")
    assert f"{bad}:3:4" in ran.err
