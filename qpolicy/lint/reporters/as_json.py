"""The report as one JSON document, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from qpolicy.lint.finding import Finding
from qpolicy.lint.reporters.checked import Checked
from qpolicy.lint.reporters.paint import Paint

VERSION = 1


def report(checked: Sequence[Checked], paint: Paint, width: int) -> str:
    """Return the document, version 1; non-ASCII characters are escaped so that any stream can hold it."""
    return document({"findings": [_finding(one, finding) for one in checked for finding in one.findings]})


def document(content: dict[str, object]) -> str:
    """Return a versioned JSON document with a newline at its end."""
    return json.dumps({"version": VERSION, **content}, indent=2) + "\n"


def _finding(checked: Checked, finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "modules": list(finding.modules),
        "file": checked.file_of(finding),
        "line": finding.line,
        "column": finding.column,
        "fix": finding.fix,
    }
