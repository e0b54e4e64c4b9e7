"""Shows what the doctor found: a line for each check, then how many there are of each kind."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from qpolicy.cli.terminal import paint_for
from qpolicy.lint.reporters.as_json import document
from qpolicy.lint.reporters.checked import counted
from qpolicy.lint.reporters.escape import escape_lines
from qpolicy.lint.reporters.paint import Paint
from qpolicy.sglang.doctor_check import Check, Status
from qpolicy.sglang.ledger import Patch, ledger

STYLES: MappingProxyType[Status, str] = MappingProxyType({"ok": "good", "note": "info", "fail": "error"})
"""Each status, in the order in which they are counted, with its style."""

_INDENT = "      "


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor found.

    Attributes:
        version: The version of SGLang.
        folder: Where it is imported from.
        checks: What was looked at, in order.
        off: Whether the plugin is switched off in a server that is started from here.
    """

    version: str
    folder: str
    checks: tuple[Check, ...]
    off: bool = False

    @property
    def counts(self) -> dict[Status, int]:
        """How many checks there are of each status."""
        found = Counter(check.status for check in self.checks)
        return {status: found[status] for status in STYLES}

    @property
    def active(self) -> bool:
        """Whether a server that is started from here would follow a policy."""
        return not self.off and not self.counts["fail"]


def as_text(diagnosis: Diagnosis) -> str:
    """Return the diagnosis for people."""
    return "".join(f"{line}\n" for line in _lines(diagnosis, paint_for(sys.stdout)))


def as_json(diagnosis: Diagnosis) -> str:
    """Return the diagnosis for programs; docs/schema/doctor-1.json is its schema."""
    return document(
        {
            "sglang": {"version": diagnosis.version, "folder": diagnosis.folder},
            "active": diagnosis.active,
            "checks": [_check_json(check) for check in diagnosis.checks],
            "summary": diagnosis.counts,
        }
    )


def _lines(diagnosis: Diagnosis, paint: Paint) -> Iterator[str]:
    for check in diagnosis.checks:
        name = escape_lines(check.name.removeprefix("sglang.srt."))
        first, *rest = escape_lines(_told(check)).split("\n")
        yield f"{paint(f'{check.status:4}', STYLES[check.status])}  {check.group} {paint(name, 'strong')}: {first}"
        yield from (f"{_INDENT}{line}" for line in rest)
        if check.fix:
            yield f"{_INDENT}{paint('fix:', 'strong')} {escape_lines(check.fix)}"
    yield _summary(diagnosis, paint)


def _summary(diagnosis: Diagnosis, paint: Paint) -> str:
    counts = diagnosis.counts
    kinds = ", ".join((f"{counts['ok']} ok", counted(counts["note"], "note"), f"{counts['fail']} failed"))
    told, style = ("broken", "error") if counts["fail"] else ("sound", "good")
    off = paint(", but switched off", "warning") if diagnosis.off else ""
    return f"{paint(told, style)}{off}: {counted(len(diagnosis.checks), 'check')}, {kinds}"


def _told(check: Check) -> str:
    row = _row(check)
    return check.message if row is None else f"{check.message}: {row.why} ({row.upstream})"


def _row(check: Check) -> Patch | None:
    return next((row for row in ledger() if check.group == "hook" and row.target == check.name), None)


def _check_json(check: Check) -> dict[str, Any]:
    row = _row(check)
    patch = None if row is None else {**asdict(row), "parameters": list(row.parameters)}
    return {**asdict(check), "fix": check.fix or None, "digest": check.digest or None, "ledger": patch}
