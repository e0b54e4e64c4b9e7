"""The plugin in SGLang's own processes: what must not come up does not, and ranks that differ do not build."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from engine_models import free_port
from engine_process import EXAMPLES, copy_example, require_engine, results_of, start_script
from plugin_scheduler import Case

pytestmark = pytest.mark.engine

FP8 = "qwen3-fp8"
NEXT = "qwen3-next-w4afp8"
BROKEN = "qpolicy 1\nlm_head: unquantised\n"
UNMET = "sglang.srt.model_loader.loader._initialize_model"
POLICY = (EXAMPLES / NEXT / "model.qpolicy").read_text()

Ended = dict[str, tuple[int, str]]
Ranks = list[list[dict[str, object]]]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """How SGLang's scheduler process ended, and what it said, in each case."""
    require_engine()
    work = tmp_path_factory.mktemp("scheduler")
    sound = (EXAMPLES / FP8 / "model.qpolicy").read_text()
    ok, broken = copy_example(FP8, work / "ok", sound), copy_example(FP8, work / "broken", BROKEN)
    unsound = work / "path"
    unsound.mkdir()
    (unsound / "lark.py").write_text("raise ImportError('this lark is broken')\n")
    cases = {
        "ready": Case(str(ok)),
        "broken policy": Case(str(broken)),
        "broken policy, off": Case(str(broken), settings={"QPOLICY_MODE": "off"}),
        "broken file": Case(str(ok), settings={"QPOLICY_FILE": str(broken / "model.qpolicy")}),
        "no target": Case(str(ok), removed=UNMET),
        "not importable": Case(str(ok), path=str(unsound)),
        "no such mode": Case(str(ok), settings={"QPOLICY_MODE": "strictest"}),
    }
    (work / "cases.json").write_text(json.dumps({name: asdict(case) for name, case in cases.items()}))
    process = start_script("plugin_scheduler.py", work / "cases.json", work / "results.json")
    results: Ended = results_of(process, work / "results.json")
    return results


def test_sound_policy_serves(ended: Ended) -> None:
    status, said = ended["ready"]
    assert status == 0, said[-3000:]
    assert "layers decided" in said


def test_mode_off_serves_without_a_policy(ended: Ended) -> None:
    status, said = ended["broken policy, off"]
    assert status == 0, said[-3000:]
    assert "layers decided" not in said


@pytest.mark.parametrize(
    ("case", "parts"),
    [
        ("broken policy", ("model.qpolicy:2:10", "unexpected `unquantised`")),
        ("broken file", ("qpolicy: SGLang is stopped", "model.qpolicy:2:10", "QPOLICY_MODE=off")),
        ("no target", ("qpolicy: SGLang is stopped", f"this SGLang has no {UNMET}", "QPOLICY_MODE=off")),
        ("not importable", ("qpolicy: SGLang is stopped", "ImportError: this lark is broken", "QPOLICY_MODE=off")),
        ("no such mode", ("qpolicy: SGLang is stopped", "QPOLICY_MODE=strictest: expected one of strict, warn, off")),
    ],
)
def test_what_is_broken_does_not_come_up(ended: Ended, case: str, parts: tuple[str, ...]) -> None:
    status, said = ended[case]
    assert status != 0
    assert "scheduler is ready" not in said
    missing = [part for part in parts if part not in said]
    assert missing == [], said[-3000:]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Ranks:
    """What became of three builds on two ranks: the same policy, different ones, and one rank without any."""
    require_engine()
    work = tmp_path_factory.mktemp("ranks")
    policies = ((POLICY, POLICY), (POLICY, POLICY + "# changed\n"), (POLICY, None))
    port = free_port()
    started = []
    for rank in (0, 1):
        folders = [
            copy_example(f"{NEXT}/checkpoint", work / f"{rank}-{case}", pair[rank])
            for case, pair in enumerate(policies)
        ]
        started.append(start_script("plugin_ranks.py", rank, port, work / f"{rank}.json", *folders))
    for process in started:
        said, _ = process.communicate(timeout=500)
        assert process.returncode == 0, said[-4000:]
    return [json.loads((work / f"{rank}.json").read_text()) for rank in (0, 1)]


def test_ranks_with_the_same_policy_agree_on_the_digest_and_build(ranks: Ranks) -> None:
    first, second = ranks[0][0], ranks[1][0]
    assert (first["error"], second["error"]) == (None, None)
    assert first["digests"] == second["digests"]
    assert len(set(first["digests"])) == 1  # type: ignore[arg-type]
    assert first["layers"] == second["layers"] != 0


@pytest.mark.parametrize("case", [1, 2])
def test_ranks_that_would_decide_differently_stop_before_building(ranks: Ranks, case: int) -> None:
    for rank in ranks:
        error = str(rank[case]["error"])
        assert error.startswith("PolicyStop: qpolicy: the ranks would decide differently")
        assert rank[case]["layers"] == 0
        assert ("no policy" in error) == (case == 2)
