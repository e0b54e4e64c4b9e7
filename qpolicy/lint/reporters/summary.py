"""The line that closes a text report."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.reporters.checked import Checked, counted, is_clean, tally
from qpolicy.lint.reporters.escape import escape
from qpolicy.lint.reporters.paint import Paint


def summary(checked: Checked, paint: Paint) -> str:
    """Return the line, such as ``2 errors, 1 warning in ckpt; 43 layers checked``."""
    subject, found = escape(checked.subject), tally(checked.findings)
    if not is_clean(checked.findings):
        head = f"{paint(found, 'strong')} in {subject}{_looked_at(checked.layers)}"
        return f"{head}{_aside(_more(checked))}"
    head = f"{paint('clean', 'good')}: {subject}{_agreeing(checked.layers)}"
    return f"{head}{_aside([*([found] if found else []), *_more(checked)])}"


def _more(checked: Checked) -> Iterator[str]:
    if checked.fixed:
        yield f"{checked.fixed} fixed"
    if checked.suppressed:
        yield f"{checked.suppressed} suppressed"
    repairs = [finding.repair.safe for finding in checked.findings if finding.repair]
    if any(repairs):
        yield f"{sum(repairs)} fixable with --fix"
    if not all(repairs):
        yield f"{len(repairs) - sum(repairs)} fixable with --fix --unsafe-fixes"


def _aside(parts: Iterator[str] | list[str]) -> str:
    told = ", ".join(parts)
    return f" ({told})" if told else ""


def _looked_at(layers: int | None) -> str:
    return "" if layers is None else f"; {counted(layers, 'layer')} checked"


def _agreeing(layers: int | None) -> str:
    if layers is None:
        return ""
    return ", 1 layer agrees with its tensors" if layers == 1 else f", {layers} layers agree with their tensors"
