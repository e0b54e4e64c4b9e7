"""The wheel carries the grammar and the shipped policies, and finds them without a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import qpolicy
from qpolicy.resources import shipped
assert "site" in qpolicy.__file__, qpolicy.__file__
for file in sorted(shipped("policies").glob("*.qpolicy")):
    qpolicy.load(file)
    print(file.name)
print((shipped("grammar") / "qpolicy.lark").stat().st_size > 0)
"""


def test_an_installed_wheel_has_everything(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("qpolicy-*.whl")
    site = tmp_path / "site"
    # All that installing a wheel of nothing but Python does.
    shutil.unpack_archive(wheel, site, "zip")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
    )
    lines = ran.stdout.split()
    assert lines[-1] == "True"
    assert lines[:-1] == sorted(file.name for file in (ROOT / "policies").glob("*.qpolicy"))
