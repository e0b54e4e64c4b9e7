"""The ledger holds in the installed SGLang and in the older ones, and the docs show it as it is."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import warnings
from importlib.metadata import entry_points, version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from engine_process import HERE, require_engine
from wheel_signatures import signatures

from qpolicy.sglang import ledger as module
from qpolicy.sglang.ledger import as_table, ledger

DOCS = HERE.parents[1] / "docs" / "sglang.md"
BEGIN, END = "<!-- ledger: begin -->\n", "<!-- ledger: end -->"
OLDER = "0.5.22"
TARGETS = [row.target for row in ledger()]

Recorded = dict[str, dict[str, list[str] | None]]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    found: Recorded = json.loads((HERE / "recorded_signatures.json").read_text())
    return found


def test_every_row_says_everything() -> None:
    assert len(set(TARGETS)) == len(TARGETS) > 5
    for row in ledger():
        assert row.target.startswith("sglang.srt.")
        assert all((row.hook, row.why, row.upstream, row.remove_when))


def test_only_what_an_older_engine_lacks_is_optional(recorded: Recorded) -> None:
    lacking = {target for found in recorded.values() for target, parameters in found.items() if parameters is None}
    assert lacking <= {row.target for row in ledger() if row.optional}


@pytest.mark.parametrize("engine_version", ["0.5.16", "0.5.22", "0.5.23"])
def test_recorded_engines_have_each_target_with_its_parameters(recorded: Recorded, engine_version: str) -> None:
    found = recorded[engine_version]
    assert list(found) == TARGETS
    for row in ledger():
        parameters = found[row.target]
        assert row.optional or parameters is not None
        assert parameters is None or set(row.parameters) <= set(parameters)


def test_docs_show_the_ledger() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == as_table()


def test_ledger_imports_nothing_of_the_engine() -> None:
    code = f"import sys, {module.__name__}, qpolicy.sglang.entry; print('torch' in sys.modules, 'lark' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "False"]


@pytest.mark.engine
def test_plugin_is_discovered() -> None:
    require_engine()
    found = [one for one in entry_points(group="sglang.srt.plugins") if one.name == "qpolicy"]
    assert [one.value for one in found] == ["qpolicy.sglang.entry:register"]
    assert found[0].load() is __import__("qpolicy.sglang.entry", fromlist=["register"]).register


@pytest.mark.engine
@pytest.mark.parametrize("row", ledger(), ids=TARGETS)
def test_target_is_in_the_installed_engine(engine: Any, recorded: Recorded, row: module.Patch) -> None:
    hooks: ModuleType = engine("qpolicy.sglang.hooks")
    attach: ModuleType = engine("qpolicy.sglang.attach")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the engine's own, while its models are imported
        function = attach.resolve(row.target)
    parameters = list(inspect.signature(getattr(function, "__func__", function)).parameters)
    assert set(row.parameters) <= set(parameters)
    assert parameters == recorded[version("sglang")][row.target]
    assert row.target == module.REGISTRY or callable(getattr(hooks, row.hook))


@pytest.mark.engine
def test_recorded_signatures_are_those_of_the_wheel(recorded: Recorded, tmp_path: Path) -> None:
    """Downloads the older SGLang; the test above stands on what is recorded where there is no network."""
    require_engine()
    fetch = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(tmp_path),
        f"sglang=={OLDER}",
    ]
    if subprocess.run(fetch, capture_output=True, check=False, timeout=300).returncode != 0:
        pytest.skip(f"the wheel of SGLang {OLDER} cannot be downloaded")
    (wheel,) = tmp_path.glob("*.whl")
    assert signatures(wheel) == recorded[OLDER]
