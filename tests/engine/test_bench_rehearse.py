"""The benchmark of rehearsal runs, here on a model small enough for it to be quick."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from documents import ROOT
from engine_process import require_engine

pytestmark = pytest.mark.engine


def test_it_prints_its_ratios() -> None:
    require_engine()
    command = [sys.executable, str(ROOT / "benchmarks" / "bench_rehearse.py"), "--layers", "4", "--experts", "8"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "4 layers, 8 experts" in ran.stdout
    assert len(re.findall(r"\d+\.\d\dx", ran.stdout)) == 5
