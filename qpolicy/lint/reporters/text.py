"""The report for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from qpolicy.lint.finding import Finding, Related
from qpolicy.lint.reporters.alike import Group, grouped
from qpolicy.lint.reporters.checked import Checked, counted
from qpolicy.lint.reporters.escape import escape, escape_lines
from qpolicy.lint.reporters.names import listed
from qpolicy.lint.reporters.paint import Paint
from qpolicy.lint.reporters.summary import summary

_MODULES_SHOWN = 20
_INDENT = "  "
_HANGING = "      "


def report(checked: Sequence[Checked], paint: Paint, width: int) -> str:
    """Return each finding as a paragraph, and a summary line for each thing that was checked."""
    parts: list[str] = []
    for one in checked:
        if parts and one.findings:
            parts.append("")
        parts.extend(_section(one, paint, width))
    return "".join(f"{line}\n" for line in parts)


def _section(checked: Checked, paint: Paint, width: int) -> Iterator[str]:
    for group in grouped(checked.findings):
        yield from _paragraph(checked, group, paint, width)
        yield ""
    yield summary(checked, paint)


def _paragraph(checked: Checked, group: Group, paint: Paint, width: int) -> Iterator[str]:
    finding = group.finding
    head = f"{paint(finding.severity, finding.severity)} {paint(finding.code, 'strong')} {escape(finding.name)}"
    alike = f" ({group.count} alike)" if group.count > 1 else ""
    yield f"{head} {paint('at', 'quiet')} {escape(checked.place_of(finding))}{alike}"
    for line in finding.message.splitlines():
        yield from _wrapped(escape(line), width)
    yield from _excerpt(finding.excerpt)
    for related in finding.related:
        yield from _related(related, finding, width)
    if finding.modules:
        yield from _wrapped(_modules(finding.modules), width, _INDENT + _HANGING)
    if finding.fix:
        yield f"{_INDENT}{paint(_fix_head(finding), 'good')}"
        yield from (_HANGING + line if line else "" for line in escape_lines(finding.fix).rstrip().split("\n"))


def _excerpt(excerpt: str | None) -> Iterator[str]:
    if excerpt:
        yield from (_INDENT * 2 + line for line in escape_lines(excerpt).split("\n"))


def _related(related: Related, finding: Finding, width: int) -> Iterator[str]:
    """Yield another place of a finding; its file is named where it is another one."""
    where = f"line {related.line}" if related.file == finding.file else f"{related.file}:{related.line}"
    yield from _wrapped(f"{escape(where)} {escape(related.message)}", width)
    yield from _excerpt(related.excerpt)


def _fix_head(finding: Finding) -> str:
    if finding.repair is None:
        return "fix:"
    return "fix (made by --fix):" if finding.repair.safe else "fix (made by --fix --unsafe-fixes):"


def _modules(modules: Sequence[str]) -> str:
    return f"{counted(len(modules), 'module')}: {escape(listed(modules, _MODULES_SHOWN))}"


def _wrapped(text: str, width: int, subsequent: str = _INDENT) -> list[str]:
    return wrap(
        text,
        width,
        initial_indent=_INDENT,
        subsequent_indent=subsequent,
        break_long_words=False,
        break_on_hyphens=False,
    )
