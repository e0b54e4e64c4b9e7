"""Reads the signatures of the ledger's targets out of SGLang wheels, without importing them.

``python wheel_signatures.py WHEEL...`` prints them as JSON, as they are recorded in ``recorded_signatures.json``.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from pathlib import Path

from qpolicy.sglang.ledger import ledger

Signatures = dict[str, list[str] | None]


def signatures(wheel: Path) -> Signatures:
    """Return each target's parameters, or None for a target that is not there."""
    with zipfile.ZipFile(wheel) as archive:
        return {row.target: _parameters(archive, row.target) for row in ledger()}


def version_of(wheel: Path) -> str:
    found = re.match(r"sglang-([^-]+)-", wheel.name)
    assert found, wheel
    return found[1]


def _parameters(archive: zipfile.ZipFile, target: str) -> list[str] | None:
    parts = target.split(".")
    for split in range(len(parts) - 1, 0, -1):
        name = "/".join(parts[:split]) + ".py"
        if name in archive.namelist():
            return _in_module(ast.parse(archive.read(name)), parts[split:])
    return None


def _in_module(tree: ast.Module, path: list[str]) -> list[str] | None:
    body: list[ast.stmt] = tree.body
    for name in path[:-1]:
        classes = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        if not classes:
            return None
        body = classes[0].body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == path[-1]:
            given = node.args
            return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return None


if __name__ == "__main__":
    print(json.dumps({version_of(Path(name)): signatures(Path(name)) for name in sys.argv[1:]}, indent=1))
