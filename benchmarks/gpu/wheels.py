"""Installs wheels from a folder, and makes a large one small enough to be carried. The standard library is enough.

``python benchmarks/gpu/wheels.py WHEEL FOLDER --without GLOB...`` writes a wheel without the files that a glob matches.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path


class WheelsError(Exception):
    """The folder cannot be installed; the text says why."""


def install(folder: Path, target: Path) -> None:
    """Install every wheel of a folder into a target folder, without a network and without their requirements.

    Raises:
        WheelsError: There is no wheel, or pip refuses one.
    """
    wheels = sorted(map(str, folder.glob("*.whl")))
    if not wheels:
        raise WheelsError(f"{folder}: no wheels (*.whl) lie here")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target)]
    done = subprocess.run([*pip, *wheels], capture_output=True, text=True, check=False)
    if done.returncode:
        raise WheelsError(f"{folder}: pip cannot install these wheels:\n{done.stderr.strip()}")


def trim(wheel: Path, folder: Path, without: Sequence[str]) -> Path:
    """Write a copy of a wheel that lacks the files which a glob matches; return its path.

    Args:
        wheel: The wheel.
        folder: Where the copy goes, under the same file name.
        without: Globs over the paths inside the wheel; ``*`` matches ``/`` too.
    """
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as small:
        for name in whole.namelist():
            if not _matches(name, without):
                small.writestr(name, _content(whole, name, without))
    return copy


def _content(whole: zipfile.ZipFile, name: str, without: Sequence[str]) -> bytes:
    content = whole.read(name)
    if not name.endswith(".dist-info/RECORD"):
        return content
    lines = content.decode().splitlines(keepends=True)
    return "".join(line for line in lines if not _matches(line.split(",")[0], without)).encode()


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a wheel without some of its files.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", nargs="+", default=[], metavar="GLOB")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    copy = trim(given.wheel, given.folder, given.without)
    print(f"{copy}: {copy.stat().st_size / 2**20:.1f} MiB of {given.wheel.stat().st_size / 2**20:.1f}")


if __name__ == "__main__":
    main()
