"""``qpolicy init``: what it writes, where, and what it refuses."""

from __future__ import annotations

import stat
from pathlib import Path
from shutil import copytree

import pytest
from commandline import LAYERS, empty, faulty, healthy, policy, run, with_draft
from documents import ROOT, blocks
from small import compressed, small_checkpoint

WRITTEN = """\
qpolicy 1

# Learned by `qpolicy init` from the tensors.
# Modules: 2 plain, 4 quantized.

lm_head: unquantized  # 1 module
model.layers.1.mlp.down_proj: unquantized  # 1 module
otherwise: quantized  # 4 modules
"""


def test_the_policy_lies_beside_the_checkpoint_and_makes_it_clean(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    assert run("check", folder).code == 1
    ran = run("init", folder)
    written = folder / "model.qpolicy"
    assert (ran.code, ran.out, ran.err) == (0, f"{written}: written; it agrees with all 6 modules\n", "")
    assert written.read_text() == WRITTEN
    assert run("check", folder).code == 0
    assert run("fmt", "--check", written).code == 0


def test_the_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    run("init", folder)
    other = folder / "other"
    other.touch()
    assert stat.S_IMODE((folder / "model.qpolicy").stat().st_mode) == stat.S_IMODE(other.stat().st_mode)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_standard_output(tmp_path: Path) -> None:
    folder = faulty(tmp_path)
    ran = run("init", folder, "--output", "-")
    assert (ran.code, ran.out, ran.err) == (0, WRITTEN, "")
    assert not list(folder.glob("*.qpolicy"))


def test_a_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    mine = policy(folder / "mine.qpolicy", "otherwise: native")
    before = mine.read_text()
    ran = run("init", folder)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"{mine}: exists already; --force replaces it, --output FILE writes elsewhere\n"
    assert mine.read_text() == before
    assert run("init", folder, "--force").code == 0
    assert "lm_head: unquantized" in mine.read_text()
    assert [path.name for path in folder.glob("*.qpolicy")] == ["mine.qpolicy"]


def test_a_named_file(tmp_path: Path) -> None:
    folder, file = healthy(tmp_path), tmp_path / "elsewhere.qpolicy"
    assert run("init", folder, "--output", file).code == 0
    assert run("init", folder, "--output", file).code == 2
    assert run("init", folder, "--output", file, "--force").code == 0
    assert run("check", folder, "--policy", file).code == 0


def test_several_policies_beside_the_checkpoint(tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    for name in ("a", "b"):
        policy(folder / f"{name}.qpolicy", "otherwise: native")
    ran = run("init", folder, "--force")
    assert ran.code == 2
    assert "several policy files lie here" in ran.err


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    ran = run("init", healthy(tmp_path), "--output", tmp_path / "nowhere" / "a.qpolicy")
    assert ran.code == 2
    assert "No such file or directory" in ran.err


def test_facts(tmp_path: Path) -> None:
    ran = run("init", with_draft(tmp_path), "--facts", "--output", "-")
    assert ran.out.splitlines()[-2:] == ["when draft and not quantized_on_disk: unquantized", "otherwise: native"]


def test_from_the_list(tmp_path: Path) -> None:
    ran = run("init", faulty(tmp_path), "--from-list", "--output", "-")
    assert ran.out.splitlines()[-2:] == ["lm_head: unquantized  # 1 module", "otherwise: quantized  # 5 modules"]


def test_facts_and_list_exclude_each_other(tmp_path: Path) -> None:
    ran = run("init", healthy(tmp_path), "--from-list", "--facts")
    assert ran.code == 2
    assert "give one of them" in ran.err


def test_layers_that_no_policy_can_build_are_told(tmp_path: Path) -> None:
    mixed = {**LAYERS, "model.layers.0.self_attn.k_proj": "plain"}
    small_checkpoint(tmp_path / "mixed", mixed, compressed(["lm_head"]))
    ran = run("init", tmp_path / "mixed")
    assert ran.code == 1
    assert ran.out == f"{tmp_path / 'mixed' / 'model.qpolicy'}: written\n"
    assert ran.err.startswith("no policy can build target layer model.layers.0.self_attn.qkv_proj: ")
    assert "k_proj unquantized" in ran.err


@pytest.mark.parametrize(("engine", "code"), [("sglang", 0), ("nobody", 2)])
def test_the_engine_is_one_that_is_known(tmp_path: Path, engine: str, code: int) -> None:
    assert run("init", healthy(tmp_path), "--engine", engine, "--output", "-").code == code


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    ran = run("init", empty(tmp_path))
    assert ran.code == 3
    assert "Traceback" not in ran.err


def test_the_way_from_a_checkpoint_to_a_shipped_policy(tmp_path: Path) -> None:
    folder = tmp_path / "ckpt"
    copytree(ROOT / "examples" / "qwen3-next-w4afp8" / "checkpoint", folder)
    written = folder / "model.qpolicy"
    (shown,) = [block.text for block in blocks(ROOT / "docs" / "init.md", "qpolicy")]
    assert run("check", folder).code == 1
    assert run("init", folder).code == 0
    assert shown.startswith(written.read_text())
    assert run("check", folder).code == 0
    explained = run("explain", folder, "mtp.fc", "--draft")
    assert explained.code == 0
    assert "otherwise: unquantized" in explained.out
    written.write_text(shown)
    assert run("test", folder).out.startswith("5 expectations met; ")
    assert run("check", folder).code == 0
    assert run("lint", written).code == 0
    assert run("fmt", "--check", written).code == 0
