"""``qpolicy sglang doctor`` where no engine is needed: what it prints, its exit codes, settings, and broken engines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import schemas
from checkpoints import write_checkpoint
from commandline import Ran, empty, faulty, healthy, policy, run, with_draft
from small import compressed, config

from qpolicy.cli import sglang_doctor
from qpolicy.sglang import doctor_run, standin
from qpolicy.sglang.doctor_check import Check
from qpolicy.sglang.ledger import ledger

HOOK = ledger()[0]
FOUND = Check("plugin", "discovered", "ok", "by the entry point")
ATTACHED = Check("hook", HOOK.target, "ok", "attached")
LOST = Check("hook", HOOK.target, "fail", "a call does not reach the hook", "install another")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """The checks that come out of the engine, to be changed by the test."""
    checks = [FOUND, ATTACHED]
    monkeypatch.setattr(sglang_doctor, "installed", lambda: ("0.5.23", "/place/sglang"))
    monkeypatch.setattr(sglang_doctor, "examine", lambda: tuple(checks))
    return checks


def doctor(*arguments: str | Path, mode: str | None = None, file: str | None = None) -> Ran:
    return run("sglang", "doctor", *arguments, QPOLICY_MODE=mode, QPOLICY_FILE=file)


def checks_of(ran: Ran, group: str) -> dict[str, tuple[str, str]]:
    schemas.of("doctor-1.json").validate(ran.json)
    return {one["name"]: (one["status"], one["message"]) for one in ran.json["checks"] if one["group"] == group}


def test_one_line_for_each_check_and_a_summary(engine: list[Check]) -> None:
    ran = doctor()
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "ok    plugin discovered: by the entry point",
        f"ok    hook model_loader.loader._get_quantization_config: attached: {HOOK.why} ({HOOK.upstream})",
        "ok    setting QPOLICY_MODE: strict by default: what must not be built stops the load",
        "ok    setting QPOLICY_FILE: not set: the policy beside each checkpoint is used",
        "sound: 4 checks, 4 ok, 0 notes, 0 failed",
    ]


def test_failure_has_its_fix_below_it(engine: list[Check]) -> None:
    engine[1:] = [LOST]
    ran = doctor()
    assert ran.code == 1
    lines = ran.out.splitlines()
    name = "model_loader.loader._get_quantization_config"
    assert lines[1].startswith(f"fail  hook {name}: a call does not reach the hook: ")
    assert lines[2] == "      fix: install another"
    assert lines[-1] == "broken: 4 checks, 3 ok, 0 notes, 1 failed"


def test_json_has_the_row_of_a_hook(engine: list[Check]) -> None:
    engine.append(LOST)
    ran = doctor("--format", "json")
    schemas.of("doctor-1.json").validate(ran.json)
    assert ran.json["sglang"] == {"version": "0.5.23", "folder": "/place/sglang"}
    assert (ran.json["active"], ran.json["summary"]) == (False, {"ok": 4, "note": 0, "fail": 1})
    row = ran.json["checks"][1]["ledger"]
    assert (row["target"], row["why"], row["upstream"]) == (HOOK.target, HOOK.why, HOOK.upstream)
    assert ran.json["checks"][2]["fix"] == "install another"


@pytest.mark.parametrize(
    ("mode", "status", "told"),
    [
        ("strict", "ok", "strict: what must not be built stops the load"),
        ("warn", "note", "warn: what must not be built is logged"),
        (" OFF ", "note", "off: the plugin does nothing"),
        ("strictest", "fail", "QPOLICY_MODE=strictest: expected one of strict, warn, off"),
    ],
)
def test_modes(engine: list[Check], mode: str, status: str, told: str) -> None:
    ran = doctor("--format", "json", mode=mode)
    found = checks_of(ran, "setting")["QPOLICY_MODE"]
    assert found[0] == status
    assert found[1].startswith(told)
    assert ran.code == (status == "fail")
    assert ran.json["active"] == (mode in ("strict", "warn"))


def test_switched_off_is_said_in_the_summary(engine: list[Check]) -> None:
    assert doctor(mode="off").out.splitlines()[-1] == "sound, but switched off: 4 checks, 3 ok, 1 note, 0 failed"


def test_policy_named_by_the_setting(engine: list[Check], tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    policy(folder / "own.qpolicy", "otherwise: native")
    ran = doctor(folder, "--format", "json", file="builtin:trust-tensors")
    assert checks_of(ran, "setting")["QPOLICY_FILE"][0] == "ok"
    told = checks_of(ran, "policy")[str(folder)]
    assert told[1].endswith("trust-tensors.qpolicy, named by QPOLICY_FILE")


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("builtin:trust-tensor", "did you mean 'builtin:trust-tensors'?"),
        ("nowhere.qpolicy", "nowhere.qpolicy"),
        ("{broken}", "broken.qpolicy:3:10: QP005 "),
    ],
)
def test_broken_setting(engine: list[Check], tmp_path: Path, file: str, told: str) -> None:
    broken, folder = policy(tmp_path / "broken.qpolicy", "lm_head: unquantised"), healthy(tmp_path)
    ran = doctor(folder, "--format", "json", file=file.format(broken=broken))
    status, message = checks_of(ran, "setting")["QPOLICY_FILE"]
    assert (ran.code, status) == (1, "fail")
    assert told in message
    assert checks_of(ran, "policy")[str(folder)] == ("note", "not looked for: a server would stop at the settings")


def test_policy_beside_the_checkpoint(engine: list[Check], tmp_path: Path) -> None:
    folder = with_draft(tmp_path)
    own = policy(folder / "own.qpolicy", "mtp.**: unquantized")
    ran = doctor(folder, "--format", "json")
    found = checks_of(ran, "policy")
    assert list(found) == [str(folder), "target", "draft"]
    assert found[str(folder)] == ("ok", f"{own}, beside the checkpoint")
    digests = {one["name"]: one["digest"] for one in ran.json["checks"] if one["digest"]}
    assert set(digests) == {"target", "draft"}
    assert digests["target"] != digests["draft"]
    assert found["target"] == ("ok", f"the policy binds; digest {digests['target'][:12]}")
    policy(own, "mtp.**: native")
    again = doctor(folder, "--format", "json").json["checks"]
    assert digests.items().isdisjoint({one["name"]: one["digest"] for one in again}.items())


def test_target_alone_where_there_is_no_draft(engine: list[Check], tmp_path: Path) -> None:
    folder = healthy(tmp_path)
    policy(folder / "own.qpolicy", "otherwise: native")
    assert list(checks_of(doctor(folder, "--format", "json"), "policy")) == [str(folder), "target"]
    off = checks_of(doctor(folder, "--format", "json", mode="off"), "policy")[str(folder)]
    assert off == ("note", f"{folder / 'own.qpolicy'}, beside the checkpoint, would be ignored: QPOLICY_MODE=off")


def test_checkpoint_of_a_draft_alone(engine: list[Check], tmp_path: Path) -> None:
    made = config(compressed(["lm_head"]), "LlamaForCausalLMEagle3")
    write_checkpoint(tmp_path / "eagle", {"fc.weight": ("BF16", (64, 64))}, made)
    policy(tmp_path / "eagle" / "own.qpolicy", "fc: unquantized")
    assert list(checks_of(doctor(tmp_path / "eagle", "--format", "json"), "policy"))[1:] == ["draft"]


def test_no_policy(engine: list[Check], tmp_path: Path) -> None:
    ran = doctor(faulty(tmp_path))
    assert ran.code == 0
    assert "it has no policy, so it is served as without the plugin" in ran.out


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a": "otherwise: native", "b": "otherwise: native"}, "several policy files lie here (a.qpolicy, b.qpolicy)"),
        ({"a": "lm_head: unquantised"}, "a.qpolicy:3:10: QP005 "),
        ({"a": "lm_head: quantized as nothing"}, "nothing"),
    ],
)
def test_policy_that_would_stop_the_server(
    engine: list[Check], tmp_path: Path, files: dict[str, str], told: str
) -> None:
    folder = healthy(tmp_path)
    for name, text in files.items():
        policy(folder / f"{name}.qpolicy", text)
    ran = doctor(folder)
    assert ran.code == 1
    assert told in ran.out
    assert "\nfail  policy " in ran.out


def test_checkpoint_that_cannot_be_looked_at(engine: list[Check], tmp_path: Path) -> None:
    missing = doctor(tmp_path / "missing")
    assert (missing.code, missing.out) == (2, "")
    assert missing.err.endswith("no such folder; expected the folder of a checkpoint\n")
    ran = doctor(empty(tmp_path))
    assert (ran.code, ran.out) == (3, "")


def test_place_without_policies(engine: list[Check]) -> None:
    ran = doctor("s3://bucket/model")
    assert (ran.code, "it has no policy" in ran.out) == (0, True)
    assert doctor("s3://bucket/model", file="builtin:trust-tensors").code == 1


def test_hub_id_is_looked_for_as_the_plugin_does(
    engine: list[Check], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = healthy(tmp_path)
    policy(folder / "own.qpolicy", "otherwise: native")
    monkeypatch.setattr("qpolicy.sglang.find.fetch", lambda *_arguments, **_options: folder)
    assert checks_of(doctor("owner/model", "--format", "json"), "policy")["target"][0] == "ok"


def test_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standin, "find_spec", lambda name: None)
    ran = doctor()
    assert (ran.code, ran.out) == (2, "")
    assert "torch and sglang cannot be imported here; install them in this environment: pip install" in ran.err


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a package ``sglang`` that is found before any other."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    for module in (sglang_doctor, doctor_run):
        monkeypatch.setattr(module, "installed", lambda: ("0", str(tmp_path)))
    return tmp_path


def stub(place: Path, **files: str) -> None:
    """Write modules of the package; ``srt__plugins`` is ``sglang/srt/plugins/__init__.py``."""
    for name, text in files.items():
        folder = place.joinpath("sglang", *filter(None, name.split("__")))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(text)


@pytest.mark.parametrize(
    ("files", "name", "told"),
    [
        ({"__": "raise ImportError('no kernel')"}, "imported", "SGLang cannot be imported: ImportError: no kernel"),
        ({"__": "raise SystemExit(7)"}, "imported", "SGLang cannot be imported: SystemExit: 7"),
        ({"__": "", "srt": ""}, "discovered", "this SGLang loads no plugins: it has no sglang.srt.plugins"),
        (
            {"__": "import os, sys; print('last words', file=sys.stderr, flush=True); os._exit(9)"},
            "examined",
            "the process that examines SGLang ended with status 9; its last words: last words",
        ),
    ],
)
def test_broken_engine(place: Path, files: dict[str, str], name: str, told: str) -> None:
    stub(place, **files)
    ran = doctor("--format", "json")
    schemas.of("doctor-1.json").validate(ran.json)
    assert ran.code == 1
    (failed,) = [one for one in ran.json["checks"] if one["name"] == name]
    assert (failed["status"], failed["fix"] is not None) == ("fail", True)
    assert failed["message"].startswith(told)
    assert "Traceback" not in ran.out


def test_engine_that_hangs_is_given_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(place, __="import time; time.sleep(60)")
    monkeypatch.setattr(doctor_run, "LIMIT", 0.5)
    ran = doctor()
    assert ran.code == 1
    assert "the process that examines SGLang was given up after 0 s; its last words: none" in ran.out
