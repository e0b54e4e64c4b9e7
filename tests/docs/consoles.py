"""Runs the commands that the documentation shows, and compares what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from documents import ROOT

ELLIPSIS = "..."


def run_shown(session: str, work: Path) -> None:
    """Run a block's commands in order; a line ``...`` stands for any lines that are left out.

    Args:
        session: Lines that begin with ``$`` are commands (``qpolicy``, ``make demo``, ``echo $?``), the others output.
        work: A folder for what the commands need.
    """
    code = 0
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", session, re.MULTILINE):
        if command == "echo $?":
            printed = f"{code}\n"
        else:
            done = _run(command, work)
            printed, code = done.stdout, done.returncode
        assert _agrees(shown, printed), f"$ {command}\nprints now:\n{printed}\nbut the page shows:\n{shown}"


def _run(command: str, work: Path) -> subprocess.CompletedProcess[str]:
    arguments = [*shlex.split(command), *([f"VENV={_venv(work)}"] if command.startswith("make ") else [])]
    if arguments[0] == "qpolicy":
        arguments = [sys.executable, "-m", *arguments]
    plain = {"PATH": os.environ["PATH"], "NO_COLOR": "1"}
    return subprocess.run(arguments, cwd=ROOT, env=plain, capture_output=True, text=True, timeout=120, check=False)


def _venv(work: Path) -> Path:
    """An environment that the Makefile takes for installed, whose ``qpolicy`` is the one under test."""
    (work / "bin").mkdir(exist_ok=True)
    (work / ".core").touch()
    (work / "bin" / "qpolicy").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m qpolicy "$@"\n', encoding="utf-8")
    (work / "bin" / "qpolicy").chmod(0o755)
    return work


def _agrees(shown: str, printed: str) -> bool:
    """Whether the shown lines are the printed ones, but for those that an ellipsis stands for."""
    parts = [[]]
    for line in shown.rstrip("\n").split("\n"):
        if line == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(re.escape(line) + r"\n")
    return re.fullmatch(r"(?:.*\n)*?".join("".join(part) for part in parts), printed) is not None
