"""Which of the findings are reported, after the selection and the comments of the policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qpolicy.lang.source import Source
from qpolicy.lint.catalog import SYNTAX_CODES, code_of
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules import qp120_unused_suppression as unused_suppression
from qpolicy.lint.selection import Selection
from qpolicy.lint.suppressions import Named, Suppression, suppressions

_UNUSED = unused_suppression.CODE.code


@dataclass(frozen=True, slots=True)
class Settled:
    """What is left of some findings.

    Attributes:
        findings: Those that are reported.
        suppressed: How many a comment suppressed.
    """

    findings: tuple[Finding, ...]
    suppressed: int = 0


def settle(
    findings: Iterable[Finding], source: Source | None, selection: Selection, looked_for: Iterable[str], *, final: bool
) -> Settled:
    """Leave out what nobody wants, and report the suppressions that are of no use.

    Args:
        findings: What was found.
        source: The policy's text, if there is one; its comments suppress findings that point into it.
        selection: Which codes are wanted.
        looked_for: The codes that could have been found.
        final: Whether the policy alone was looked at, so that what is of no use now never is.
    """
    wanted = [finding for finding in findings if selection.includes(finding.code)]
    written = () if source is None else suppressions(source)
    if source is None or not written:
        return Settled(tuple(wanted))
    used: set[Named] = set()
    kept = [finding for finding in wanted if not _suppress(finding, source, written, used)]
    suppressed = len(wanted) - len(kept)
    if selection.includes(_UNUSED):
        judged = {code for code in looked_for if selection.includes(code)}
        unused = [named for one in written for named in one.codes or () if _is_idle(named, used, judged, final)]
        idle = unused_suppression.find(source, written, unused, final)
        kept += [finding for finding in idle if not _suppress(finding, source, written, used)]
    return Settled(tuple(kept), suppressed)


def _suppress(finding: Finding, source: Source, written: Iterable[Suppression], used: set[Named]) -> bool:
    """Whether a comment suppresses a finding; the codes that do are noted as used."""
    if finding.file != source.name or finding.line is None or finding.code in SYNTAX_CODES:
        return False
    line = finding.line
    naming = [
        named for one in written if one.covers(line) for named in one.codes or () if code_of(named.text) == finding.code
    ]
    used.update(naming)
    return bool(naming)


def _is_idle(named: Named, used: set[Named], judged: set[str], final: bool) -> bool:
    code = code_of(named.text)
    if code is None or code in SYNTAX_CODES:
        return final
    return code in judged and named not in used
