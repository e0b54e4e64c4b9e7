"""QP120: a comment suppresses a finding that is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qpolicy.lang.source import Source
from qpolicy.lint.catalog import SYNTAX_CODES, code_of
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.rules.uncommenting import without_codes
from qpolicy.lint.selection import near_code
from qpolicy.lint.suppressions import FILE, LINES, Named, Suppression

CODE = Code(
    "QP120",
    "unused-suppression",
    "warning",
    "A comment suppresses a finding that is not there, or names no code.",
    Page(
        """
A suppression that outlives its finding hides the next one. `qpolicy lint` judges the codes that it looks for itself;
`qpolicy check` says of the others, as a remark, that they suppress nothing in this checkpoint. Names that are no code,
and codes of syntax errors, which cannot be suppressed, are reported too.
""",
        bad=Example(
            """\
qpolicy 1

lm_head: unquantized  # qpolicy: ignore[unused-supression]
"""
        ),
        good=Example(
            """\
qpolicy 1

lm_head: unquantized
"""
        ),
        fix="Remove the code from the comment. `--fix` does so, and keeps what else the comment says.",
        safety="safe",
    ),
)


def find(source: Source, written: Sequence[Suppression], unused: Sequence[Named], judged: bool) -> Iterator[Finding]:
    """Report the suppressions that are of no use.

    Args:
        source: The policy.
        written: Its suppressions.
        unused: The codes in them that suppressed nothing, although they were looked for.
        judged: Whether they would be of use if a finding were there at all; else it depends on the checkpoint.
    """
    for one in written:
        if judged and (one.what not in {LINES, FILE} or not one.codes):
            message = f"this comment suppresses nothing; write `# qpolicy: {LINES}[CODE]` or `# qpolicy: {FILE}[CODE]`"
            yield CODE.in_policy(message, source, one.span)
            continue
        idle = [named for named in one.codes or () if named in unused]
        if idle:
            yield _finding(source, one, idle, judged)


def _finding(source: Source, one: Suppression, idle: Sequence[Named], judged: bool) -> Finding:
    reasons = dict.fromkeys(_reason(named.text, judged) for named in idle)
    whole = len(idle) == len(one.codes or ())
    return CODE.in_policy(
        "; ".join(reasons),
        source,
        one.span if whole else idle[0].span,
        fix="remove the suppression" if whole else f"remove {', '.join(named.text for named in idle)}",
        severity="warning" if judged else "info",
        repair=without_codes(source, one, idle) if judged else None,
    )


def _reason(text: str, judged: bool) -> str:
    code = code_of(text)
    if code is None:
        return f"there is no code '{text}'{near_code(text)}"
    if code in SYNTAX_CODES:
        return f"{code} is a syntax error, which cannot be suppressed"
    return f"{code} is not found here" if judged else f"{code} is not found in this checkpoint"
