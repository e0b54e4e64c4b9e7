"""The report as one JSON document, for programs; docs/schema/findings-1.json is its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence

from qpolicy.lint.finding import Finding, Related
from qpolicy.lint.repair import Repair
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
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.message,
        "modules": list(finding.modules),
        "file": checked.file_of(finding),
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "fix": finding.fix,
        "repair": None if finding.repair is None else _repair(finding.repair),
        "related": [_related(related) for related in finding.related],
    }


def _repair(repair: Repair) -> dict[str, object]:
    edits = [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in repair.edits]
    return {"safe": repair.safe, "edits": edits}


def _related(related: Related) -> dict[str, object]:
    return {
        "message": related.message,
        "file": related.file,
        "line": related.line,
        "column": related.column,
        "end_line": related.end_line,
        "end_column": related.end_column,
    }
