"""Nine in ten of the published configs can be rehearsed, target and draft; the others are listed with a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from published import CORPUS, Published, published

pytestmark = [
    pytest.mark.engine,
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus beside the checkout"),
    pytest.mark.skipif(os.environ.get("QPOLICY_SWEEP") != "1", reason="takes minutes: set QPOLICY_SWEEP=1"),
]

PAGE = (Path(__file__).parents[2] / "docs" / "rehearsal.md").read_text(encoding="utf-8")


def test_nine_in_ten_rehearse_and_the_others_are_on_the_page(tmp_path: Path) -> None:
    pytest.importorskip("sglang")
    from qpolicy.sglang.rehearse_job import Job
    from qpolicy.sglang.rehearse_run import run_jobs

    configs = published()
    assert len(configs) > 40
    jobs = [
        Job(str(_written(tmp_path / str(number), one)), draft, limit=60)
        for number, one in enumerate(configs)
        for draft in ((False, True) if one.has_draft else (False,))
    ]
    _, results = run_jobs(jobs)
    failed = {
        int(Path(job.folder).name): result.error for job, result in zip(jobs, results, strict=True) if result.error
    }
    told = {configs[number].file: error for number, error in failed.items()}
    assert len(failed) <= len(configs) / 10, told
    assert [configs[number].arch for number in failed if configs[number].arch not in PAGE] == [], told


def _written(folder: Path, one: Published) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(one.completed), encoding="utf-8")
    if one.sidecar is not None:
        (folder / "hf_quant_config.json").write_bytes(one.sidecar.read_bytes())
    return folder
