"""A table of broken inputs: each is one clear message and exit code 2, never a traceback."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from checkpoints import write_raw
from commandline import healthy, policy, run


def missing(folder: Path) -> Path:
    return folder / "nowhere"


def a_file(folder: Path) -> Path:
    (folder / "file").write_text("x")
    return folder / "file"


def truncated(folder: Path) -> Path:
    path = healthy(folder) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:40])
    return path.parent


def oversized(folder: Path) -> Path:
    path = healthy(folder)
    write_raw(path / "model.safetensors", b"{}", length=2**60)
    return path


def no_json_header(folder: Path) -> Path:
    path = healthy(folder)
    write_raw(path / "model.safetensors", b"[[[[[[[[")
    return path


def deep_header(folder: Path) -> Path:
    path = healthy(folder)
    write_raw(path / "model.safetensors", b'{"a":' * 50_000)
    return path


def config_of(content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = healthy(folder)
        (path / "config.json").write_bytes(content)
        return path

    return make


def quantization_of(value: object) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = healthy(folder)
        (path / "config.json").write_text(json.dumps({"quantization_config": value}))
        return path

    return make


BROKEN = {
    "missing folder": missing,
    "file instead of folder": a_file,
    "truncated shard": truncated,
    "header longer than the file": oversized,
    "header that is no object": no_json_header,
    "header nested without end": deep_header,
    "config that is no JSON": config_of(b"{,"),
    "config that is no text": config_of(b"\xff\xfe\x00"),
    "config nested without end": config_of(b"[" * 100_000),
    "config that is a list": config_of(b"[]"),
    "quantization config whose list is a number": quantization_of({"quant_method": "fp8", "ignored_layers": 7}),
    "quantization config whose groups are text": quantization_of(
        {"quant_method": "compressed-tensors", "config_groups": "x", "ignore": []}
    ),
}

COMMANDS = {
    "check": ("check",),
    "decide": ("decide", "lm_head"),
    "explain": ("explain", "lm_head"),
    "table": ("table",),
    "test": ("test",),
}


@pytest.mark.parametrize("name", list(BROKEN))
@pytest.mark.parametrize("command", list(COMMANDS))
def test_broken_checkpoint(tmp_path: Path, name: str, command: str) -> None:
    folder = BROKEN[name](tmp_path)
    verb, *modules = COMMANDS[command]
    expecting = policy(tmp_path / "p.qpolicy", "expect lm_head: unquantized")
    ran = run(verb, folder, *modules, "--policy", expecting)
    assert (ran.code, ran.out) == (2, ""), ran
    assert "internal error" not in ran.err
    assert str(folder) in ran.err or "config.json" in ran.err
    assert len(ran.err) < 2000


def test_quantization_config_of_another_shape_is_a_finding(tmp_path: Path) -> None:
    ran = run("check", quantization_of([])(tmp_path))
    assert (ran.code, ran.err) == (1, "")
    assert "quantization_config" in ran.out


def test_broken_one_of_several_is_named(tmp_path: Path) -> None:
    broken = BROKEN["quantization config whose list is a number"](tmp_path)
    ran = run("check", healthy(tmp_path, "other"), broken)
    assert ran.code == 2
    assert ran.err.startswith(f"{broken}: config.json: quantization_config.ignored_layers: ")
    assert ran.out.startswith("clean: ")


def a_folder(folder: Path) -> Path:
    return folder


def binary(folder: Path) -> Path:
    (folder / "b.qpolicy").write_bytes(bytes(range(256)))
    return folder / "b.qpolicy"


def deep(folder: Path) -> Path:
    return policy(folder / "deep.qpolicy", f"when {'(' * 5000}draft{')' * 5000}: unquantized")


def nothing(folder: Path) -> Path:
    (folder / "empty.qpolicy").write_bytes(b"")
    return folder / "empty.qpolicy"


@pytest.mark.parametrize("make", [missing, a_folder, binary, deep, nothing])
@pytest.mark.parametrize("command", [*COMMANDS, "fmt"])
def test_broken_policy(tmp_path: Path, make: Callable[[Path], Path], command: str) -> None:
    file = make(tmp_path)
    if command == "fmt":
        ran = run("fmt", file)
    else:
        verb, *modules = COMMANDS[command]
        ran = run(verb, healthy(tmp_path), *modules, "--policy", file)
    assert ran.code == 2
    assert "internal error" not in ran.err
    assert str(file) in ran.err
    assert len(ran.err) < 2000


@pytest.mark.parametrize("make", [missing, a_folder, binary, deep, nothing])
def test_broken_policy_in_lint(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    ran = run("lint", make(tmp_path))
    assert ran.code == (2 if make in {missing, a_folder} else 1)
    assert "internal error" not in ran.err + ran.out
