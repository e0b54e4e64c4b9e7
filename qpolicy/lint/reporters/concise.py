"""The report with one line for each finding, as editors and ``grep`` like it."""

from __future__ import annotations

from collections.abc import Sequence

from qpolicy.lint.finding import Finding
from qpolicy.lint.reporters.checked import Checked
from qpolicy.lint.reporters.escape import escape
from qpolicy.lint.reporters.paint import Paint


def report(checked: Sequence[Checked], paint: Paint, width: int) -> str:
    """Return ``file:line:column: CODE severity message`` for each finding; nothing for none."""
    return "".join(_line(one, finding, paint) for one in checked for finding in one.findings)


def _line(checked: Checked, finding: Finding, paint: Paint) -> str:
    message = " ".join(finding.message.split())
    severity = paint(finding.severity, finding.severity)
    return f"{escape(checked.place_of(finding))}: {finding.code} {severity} {escape(message)}\n"
