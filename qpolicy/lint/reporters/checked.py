"""What a report is about: one checkpoint or policy file and what was found in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qpolicy.lint.finding import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was checked.

    Attributes:
        subject: The checkpoint folder or policy file, as the user named it.
        findings: What was found.
        layers: How many layers were compared with their tensors; None where no tensors take part.
        suppressed: How many findings a comment of the policy suppressed.
        fixed: How many findings were mended.
    """

    subject: str
    findings: tuple[Finding, ...]
    layers: int | None = None
    suppressed: int = 0
    fixed: int = 0

    def file_of(self, finding: Finding) -> str:
        """Return the file that a finding is about, or else the subject."""
        return finding.file or self.subject

    def place_of(self, finding: Finding) -> str:
        """Return ``file:line:column`` as far as it is known."""
        numbers = (finding.line, finding.column) if finding.line is not None else ()
        return ":".join([self.file_of(finding), *(str(number) for number in numbers if number is not None)])


def counted(number: int, noun: str) -> str:
    """Return ``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tally(findings: Iterable[Finding]) -> str:
    """Return how many findings of each severity there are, such as ``2 errors, 1 warning``; empty for none."""
    return numbered(Counter(finding.severity for finding in findings))


def numbered(counts: Mapping[Severity, int]) -> str:
    """Return how many there are of each severity, such as ``2 errors, 1 warning``; empty for none."""
    nouns = {"info": "note"}
    return ", ".join(counted(counts[one], nouns.get(one, one)) for one in SEVERITIES if counts.get(one))


def is_clean(findings: Iterable[Finding]) -> bool:
    """Whether nothing is worse than info."""
    return all(finding.severity == "info" for finding in findings)
