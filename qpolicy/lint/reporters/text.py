"""The report for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from qpolicy.lint.reporters.alike import Group, grouped
from qpolicy.lint.reporters.checked import Checked, counted, is_clean, tally
from qpolicy.lint.reporters.escape import escape, escape_lines
from qpolicy.lint.reporters.names import listed
from qpolicy.lint.reporters.paint import Paint

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
    if finding.excerpt:
        yield from (_INDENT * 2 + line for line in escape_lines(finding.excerpt).split("\n"))
    if finding.modules:
        yield from _wrapped(_modules(finding.modules), width, _INDENT + _HANGING)
    if finding.fix:
        yield f"{_INDENT}{paint('fix:', 'good')}"
        yield from (_HANGING + line if line else "" for line in escape_lines(finding.fix).rstrip().split("\n"))


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


def summary(checked: Checked, paint: Paint) -> str:
    """Return the line that closes a text report, such as ``2 errors, 1 warning in ckpt; 43 layers checked``."""
    subject, found = escape(checked.subject), tally(checked.findings)
    if not is_clean(checked.findings):
        return f"{paint(found, 'strong')} in {subject}{_looked_at(checked.layers)}"
    notes = f" ({found})" if found else ""
    return f"{paint('clean', 'good')}: {subject}{_agreeing(checked.layers)}{notes}"


def _looked_at(layers: int | None) -> str:
    return "" if layers is None else f"; {counted(layers, 'layer')} checked"


def _agreeing(layers: int | None) -> str:
    if layers is None:
        return ""
    return ", 1 layer agrees with its tensors" if layers == 1 else f", {layers} layers agree with their tensors"
