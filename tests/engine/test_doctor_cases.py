"""What the doctor says about the installed SGLang, sound and broken in each way that it looks for."""

from __future__ import annotations

import pytest
from doctor_cases import CASES, TARGET
from engine_process import require_engine, results_of, start_script

from qpolicy.sglang.doctor_check import Check
from qpolicy.sglang.ledger import ledger

pytestmark = pytest.mark.engine

HOOK = f"sglang.srt.model_loader.loader.{TARGET}"
DRAFT = "sglang.srt.models.qwen3_5_mtp._mtp_quant_config"

Seen = dict[str, list[Check]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """The checks of each case."""
    require_engine()
    results = tmp_path_factory.mktemp("doctor") / "results.json"
    found = results_of(start_script("doctor_cases.py", results), results)
    return {name: [Check(**check) for check in checks] for name, checks in found.items()}


def named(checks: list[Check], name: str) -> Check:
    (found,) = [check for check in checks if check.name == name]
    return found


def failures(checks: list[Check]) -> list[str]:
    return [check.name for check in checks if check.status == "fail"]


def test_every_failure_has_a_fix_and_nothing_else_has(seen: Seen) -> None:
    assert set(seen) == {case.__name__ for case in CASES}
    checks = [check for checks in seen.values() for check in checks]
    assert all(bool(check.fix) == (check.status == "fail") for check in checks)
    assert not any("Traceback" in check.message for check in checks)


@pytest.mark.parametrize("case", ["nothing", "let_in", "settings"])
def test_sound(seen: Seen, case: str) -> None:
    checks = seen[case]
    assert {check.status for check in checks} == {"ok"}
    assert [check.name for check in checks if check.group == "hook"] == [row.target for row in ledger()]
    assert named(checks, "discovered").message.startswith(
        "by the entry point qpolicy.sglang.entry:register of qpolicy "
    )
    assert named(checks, "loaded").message == "SGLang loaded it and applied its hooks"


def test_probe_shows_who_answered(seen: Seen) -> None:
    told = {check.name: check.message for check in seen["nothing"] if check.group == "probe"}
    assert told == {
        "model.layers.0.mlp.down_proj": "UnquantizedLinearMethod by the rule probe.qpolicy:2, where SGLang alone gives "
        "Fp8LinearMethod",
        "model.layers.0.self_attn.o_proj": "Fp8LinearMethod as SGLang alone gives, because no rule names it",
        "model.layers.0.mlp.gate": "UnquantizedLinearMethod by the rule probe.qpolicy:3, although the model passes no "
        "config",
    }


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("without_target", f"this SGLang has no {HOOK}: "),
        ("other_parameters", f"{HOOK} of this SGLang has no parameter quant_config"),
    ],
)
def test_unfit_target(seen: Seen, case: str, told: str) -> None:
    checks = seen[case]
    assert failures(checks) == ["loaded", HOOK]
    assert named(checks, HOOK).message.startswith(told)
    assert told in named(checks, "loaded").message
    assert named(checks, HOOK).fix.startswith("The plugin knows SGLang 0.5.16, 0.5.22 and 0.5.23")
    others = [check for check in checks if check.group == "hook" and check.name != HOOK]
    assert {check.status for check in others} == {"note"}
    assert not [check for check in checks if check.group == "probe"]


def test_target_that_an_older_engine_lacks(seen: Seen) -> None:
    notes = [check for check in seen["older"] if check.status != "ok"]
    assert [(check.name, check.status) for check in notes] == [(DRAFT, "note")]
    assert notes[0].message.startswith(f"this SGLang has no {DRAFT}: ")
    assert notes[0].message.endswith("; there is nothing to attach to")


@pytest.mark.parametrize(
    ("case", "told", "fix"),
    [
        ("not_installed", "has an entry point 'qpolicy' in the group sglang.srt.plugins", "-m pip install qpolicy"),
        ("no_discovery", "SGLang's discovery fails: AttributeError", "install SGLang again"),
        ("left_out", "SGLANG_PLUGINS=another, third leaves it out", "add qpolicy to SGLANG_PLUGINS, or unset it"),
        ("other_entry_point", "not qpolicy.sglang.entry:register but elsewhere:start", "uninstall what brings it"),
    ],
)
def test_not_discovered(seen: Seen, case: str, told: str, fix: str) -> None:
    checks = seen[case]
    assert failures(checks) == ["discovered"]
    assert told in named(checks, "discovered").message
    assert fix in named(checks, "discovered").fix
    assert named(checks, "loaded").status == "note"
    assert {check.status for check in checks if check.group in ("hook", "probe")} == {"ok"}


def test_hook_that_was_not_applied(seen: Seen) -> None:
    checks = seen["hook_lost"]
    assert failures(checks) == ["loaded"]
    assert f"SGLang attached no hook to {HOOK}" in named(checks, "loaded").message
    assert named(checks, HOOK).status == "note"


def test_hook_that_a_call_does_not_reach(seen: Seen) -> None:
    checks = seen["replaced_later"]
    assert failures(checks) == [HOOK]
    assert named(checks, HOOK).message == "a call does not reach the hook"


def test_layers_that_do_not_ask(seen: Seen) -> None:
    checks = seen["policy_not_asked"]
    assert failures(checks) == ["model.layers.0.mlp.down_proj", "model.layers.0.self_attn.o_proj"]
    told = "it is built with Fp8LinearMethod, and nobody asked the policy about it"
    assert named(checks, "model.layers.0.mlp.down_proj").message == told


def test_policy_that_is_not_found(seen: Seen) -> None:
    assert failures(seen["policy_not_found"]) == ["layers"]


def test_engine_without_a_plugin_loader(seen: Seen) -> None:
    (only,) = seen["no_plugin_loader"]
    assert (only.group, only.status) == ("plugin", "fail")
    assert "it has no sglang.srt.plugins" in only.message
