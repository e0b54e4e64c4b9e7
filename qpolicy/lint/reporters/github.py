"""The report as annotations of GitHub Actions.

The form is that of the workflow commands ``::error``, ``::warning`` and ``::notice`` (GitHub's documentation, "Workflow
commands for GitHub Actions"). GitHub shows ten annotations of each kind for one step and drops the others, so that a
summary says how many there are.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from qpolicy.lint.finding import Finding, Severity
from qpolicy.lint.reporters.checked import SEVERITIES, Checked, numbered
from qpolicy.lint.reporters.escape import escape
from qpolicy.lint.reporters.names import listed
from qpolicy.lint.reporters.paint import Paint, plain
from qpolicy.lint.reporters.summary import summary

SHOWN = 10
"""How many annotations of one kind GitHub shows for one step."""

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}
_MODULES_SHOWN = 20


def report(checked: Sequence[Checked], paint: Paint, width: int) -> str:
    """Return an annotation for each finding, the errors first, and a summary."""
    pairs = [(one, finding) for one in checked for finding in one.findings]
    pairs.sort(key=lambda pair: SEVERITIES.index(pair[1].severity))
    lines = [_annotation(one, finding) for one, finding in pairs]
    return "".join(f"{line}\n" for line in (*lines, *_summary(checked)))


def _annotation(checked: Checked, finding: Finding) -> str:
    places = {
        "file": _relative(checked.file_of(finding)),
        "line": finding.line,
        "col": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
        "title": f"{finding.code} {finding.name}",
    }
    told = ",".join(f"{key}={_property(str(value))}" for key, value in places.items() if value is not None)
    return f"::{_COMMANDS[finding.severity]} {told}::{_data(_message(finding))}"


def _message(finding: Finding) -> str:
    parts = [finding.message]
    parts += [f"line {related.line} {related.message}" for related in finding.related]
    if finding.modules:
        parts.append(f"modules: {listed(finding.modules, _MODULES_SHOWN)}")
    if finding.fix:
        parts.append(f"fix: {finding.fix.rstrip()}")
    return "\n".join(parts)


def _summary(checked: Sequence[Checked]) -> Iterator[str]:
    counts = Counter(finding.severity for one in checked for finding in one.findings)
    more = numbered({severity: count - SHOWN for severity, count in counts.items() if count > SHOWN})
    if more:
        yield f"{more} more than the {SHOWN} of a kind that GitHub shows for one step; all of them are in this log"
    yield from (summary(one, plain) for one in checked)


def _relative(file: str) -> str:
    """Return a file's path from the current folder, which is how GitHub finds it, if it lies below."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 - the text is compared, not the file
    return file.removeprefix(here)


def _data(text: str) -> str:
    """Escape a message: what GitHub undoes, over what a terminal would not print."""
    lines = (escape(line).replace("%", "%25") for line in text.split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
