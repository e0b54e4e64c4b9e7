"""Nine in ten of the published configs can be rehearsed, target and draft; the others are listed with a reason."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from published import CORPUS, Published, published

pytestmark = [
    pytest.mark.engine,
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
    pytest.mark.skipif(importlib.util.find_spec("sglang") is None, reason="sglang is not installed"),
]

PAGE = (Path(__file__).parents[2] / "docs" / "rehearsal.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Published configs that cannot be rehearsed\n")[2]

Errors = dict[tuple[str, bool], str | None]


@pytest.mark.skipif(os.environ.get("QPOLICY_SWEEP") != "1", reason="takes minutes: set QPOLICY_SWEEP=1")
def test_nine_in_ten_rehearse_and_the_others_are_on_the_page(tmp_path: Path) -> None:
    configs = published()
    errors = rehearsed(configs, tmp_path)
    failed = {file: error for (file, _), error in errors.items() if error is not None}
    drafts = {file for file, draft in errors if draft}
    counts = (len(configs), len(configs) - len(failed), len(drafts), len(drafts - failed.keys()))
    print("\n{} configs, {} rehearsed; {} of them with a draft, {} rehearsed".format(*counts))
    print("\n".join(f"{file}: {error}" for file, error in failed.items()))
    assert counts[1] >= 0.9 * counts[0]
    assert tuple(map(int, re.findall(r"\d+(?= |$)", SECTION.replace("0.5.23", "").partition(".")[0]))) == counts
    rows = re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE)
    assert sorted(rows) == sorted(one.arch for one in configs if one.file in failed)


def test_a_config_of_each_format_rehearses(tmp_path: Path) -> None:
    """A share of the above that takes seconds."""
    listed = re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE)
    configs = {one.method: one for one in reversed(published()) if one.arch not in listed}
    assert len(configs) >= 8
    assert set(rehearsed(configs.values(), tmp_path).values()) == {None}


def rehearsed(configs: Iterable[Published], folder: Path) -> Errors:
    """Build the target and the draft of every config; return what went wrong by file and whether it is the draft."""
    from qpolicy.sglang.rehearse_job import Job
    from qpolicy.sglang.rehearse_run import run_jobs

    wanted = [(one, draft) for one in configs for draft in ((False, True) if one.has_draft else (False,))]
    folders = {one.file: _written(folder / str(number), one) for number, (one, _) in enumerate(wanted)}
    jobs = [Job(str(folders[one.file]), draft, limit=60) for one, draft in wanted]
    _, results = run_jobs(jobs)
    return {(one.file, draft): result.error for (one, draft), result in zip(wanted, results, strict=True)}


def _written(folder: Path, one: Published) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(one.completed), encoding="utf-8")
    if one.sidecar is not None:
        (folder / "hf_quant_config.json").write_bytes(one.sidecar.read_bytes())
    return folder
