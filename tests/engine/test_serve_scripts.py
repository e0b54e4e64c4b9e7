"""The commands of examples/serve: the scripts run with programs that only record, and SGLang knows every option."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from conftest import Engine

SERVE = Path(__file__).parents[2] / "examples" / "serve"
README = (SERVE / "README.md").read_text(encoding="utf-8")
SCRIPTS = sorted(SERVE.glob("*.sh"))
RECORDER = '#!/bin/sh\necho "{name} $QPOLICY_MODE $*" >> "$RECORD"\nexit {code}\n'


def recorded(script: Path, work: Path, *options: str, check_exits: int = 0, **settings: str) -> tuple[int, list[str]]:
    """Run a script in a folder where ``qpolicy`` and ``python`` only note how they are called."""
    for name, code in {"qpolicy": check_exits, "python": 0}.items():
        (work / name).write_text(RECORDER.format(name=name, code=code))
        (work / name).chmod(0o755)
    settings |= {"PATH": f"{work}:{os.environ['PATH']}", "RECORD": str(work / "record")}
    done = subprocess.run([script, *options], env=settings, capture_output=True, text=True, timeout=60, check=False)
    lines = (work / "record").read_text().splitlines() if (work / "record").exists() else []
    return done.returncode, lines


def launched(line: str) -> list[str]:
    """The options of SGLang in a command line."""
    return shlex.split(line.partition("sglang.launch_server ")[2])


@pytest.mark.parametrize("name", ["one-gpu.sh", "two-gpus.sh"])
def test_checkpoint_is_checked_and_then_served_with_its_own_head(name: str, tmp_path: Path) -> None:
    code, (checked, served) = recorded(SERVE / name, tmp_path, "/models/a b", "--mem-fraction-static", "0.8")
    assert code == 0
    assert checked == "qpolicy strict check /models/a b"
    assert served.startswith(
        "python strict -m sglang.launch_server --model-path /models/a b --speculative-algorithm NEXTN"
    )
    assert served.endswith(f"--port 30000{' --tp-size 2' * (name == 'two-gpus.sh')} --mem-fraction-static 0.8")
    assert "--speculative-draft-model-path" not in served


@pytest.mark.parametrize("name", ["one-gpu.sh", "two-gpus.sh"])
def test_checkpoint_that_the_check_refuses_is_not_served(name: str, tmp_path: Path) -> None:
    code, lines = recorded(SERVE / name, tmp_path, "/models/a", check_exits=1)
    assert (code, len(lines)) == (1, 1)


def test_warn_mode_serves_it_all_the_same(tmp_path: Path) -> None:
    code, lines = recorded(SERVE / "one-gpu.sh", tmp_path, "/models/a", check_exits=1, QPOLICY_MODE="warn")
    assert (code, len(lines)) == (0, 2)
    assert lines[1].startswith("python warn -m sglang.launch_server ")


def test_policy_of_the_settings_is_checked_too(tmp_path: Path) -> None:
    _, (checked, _) = recorded(SERVE / "one-gpu.sh", tmp_path, "/models/a", QPOLICY_FILE="builtin:trust-tensors")
    assert checked == "qpolicy strict check /models/a --policy builtin:trust-tensors"


def test_going_back_switches_the_plugin_off_and_serves_without_a_draft(tmp_path: Path) -> None:
    code, (served,) = recorded(SERVE / "without-policy.sh", tmp_path, "/models/a")
    assert code == 0
    assert served == "python off -m sglang.launch_server --model-path /models/a --host 127.0.0.1 --port 30000"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_missing_checkpoint_is_wrong_use(script: Path, tmp_path: Path) -> None:
    code, lines = recorded(script, tmp_path)
    assert code != 0
    assert lines == []


def test_readme_shows_the_command_of_the_script(tmp_path: Path) -> None:
    _, (_, served) = recorded(SERVE / "one-gpu.sh", tmp_path, "/models/my-checkpoint")
    (shown,) = re.findall(r"^    python -m sglang\.launch_server (?:.*\\\n)*.*$", README, re.MULTILINE)
    assert launched(shown.replace("\\\n", " ")) == launched(served)


def test_readme_lists_the_scripts() -> None:
    assert sorted(re.findall(r"^\| \[(\S+\.sh)\]", README, re.MULTILINE)) == [script.name for script in SCRIPTS]


@pytest.mark.engine
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_sglang_knows_every_option(script: Path, tmp_path: Path, engine: Engine) -> None:
    _, lines = recorded(script, tmp_path, "/models/a", "--mem-fraction-static", "0.85", "--log-level", "debug")
    parser = argparse.ArgumentParser(allow_abbrev=False)
    engine("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
    parsed = parser.parse_args(launched(lines[-1]))
    assert (parsed.model_path, parsed.mem_fraction_static) == ("/models/a", 0.85)
    assert parsed.tp_size == (2 if script.name == "two-gpus.sh" else 1)
    head = script.name != "without-policy.sh"
    assert parsed.speculative_algorithm == ("NEXTN" if head else None)
    drafted = (parsed.speculative_num_steps, parsed.speculative_eagle_topk, parsed.speculative_num_draft_tokens)
    assert drafted == ((3, 1, 4) if head else (None, None, None))


@pytest.mark.engine
def test_sglang_logs_plugins_as_the_readme_shows(engine: Engine) -> None:
    told = Path(str(engine("sglang.srt.plugins").__file__)).read_text(encoding="utf-8")
    assert '"Loaded plugin %s from group %s"' in told
    assert '"Executed general plugin: %s"' in told
    assert "    Loaded plugin qpolicy from group sglang.srt.plugins\n    Executed general plugin: qpolicy\n" in README
