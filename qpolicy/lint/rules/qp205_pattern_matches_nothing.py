"""QP205: a pattern of the policy matches no stored module."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.bind.resolve import parse_pattern
from qpolicy.lang.tree import Expect, PatternRef
from qpolicy.lang.walk import selectors_of
from qpolicy.lint.check import Check, Code, Example, Page
from qpolicy.lint.finding import Finding, Severity
from qpolicy.lint.names import known_names, looks_misspelt, nearest, told
from qpolicy.lint.rules.meant import meant
from qpolicy.lint.view import View
from qpolicy.paths import PatternIndex

_CHECKPOINT = """\
fp8    model.layers.0.mlp.experts.{0..1}.up_proj
{"architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 1,
 "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": []}}
"""

CODE = Code(
    "QP205",
    "pattern-matches-nothing",
    "warning",
    "A pattern of the policy matches no stored module.",
    Page(
        explanation="""\
A pattern that matches nothing does nothing, and mostly it is misspelt. The message names the nearest segment that the
checkpoint has, and how many modules it would match.

It is only a remark where another pattern of the same statement does match, and in a policy that ships with qpolicy.
""",
        bad=Example(policy="qpolicy 1\n\n**.mlp.expert: quantized\n", checkpoint=_CHECKPOINT),
        good=Example(policy="qpolicy 1\n\n**.mlp.experts: quantized\n", checkpoint=_CHECKPOINT),
        fix="Correct the pattern, or remove it.",
    ),
)


def find(view: View) -> Iterator[Finding]:
    """Match every pattern against every name that a stored module goes by.

    A pattern beside others that do match is only worth a remark, unless a real name is so near that it looks misspelt.
    """
    if view.policy is None or not view.checkpoint.modules:
        return
    names = known_names(view)
    for statement in view.policy.document.statements:
        if isinstance(statement, Expect):
            continue
        written = [one for one in selectors_of(statement) if isinstance(one, PatternRef)]
        index = PatternIndex([[parse_pattern(one.text)] for one in written])
        matched = {position for name in names for position in index.matches(name)}
        for position, one in enumerate(written):
            if position not in matched:
                syntax = meant(one, statement)
                yield _misspelt(view, one, syntax) if syntax else _finding(view, one, names, alone=not matched)


def _misspelt(view: View, written: PatternRef, syntax: str) -> Finding:
    assert view.policy is not None
    message = f"{written.text} matches no stored module; {syntax} was probably meant"
    return CODE.in_policy(message, view.policy.source, written.span, fix=syntax)


def _finding(view: View, written: PatternRef, names: tuple[str, ...], *, alone: bool) -> Finding:
    assert view.policy is not None
    hint = nearest(parse_pattern(written.text), names)
    severity: Severity = "warning" if alone or looks_misspelt(hint) else "info"
    if view.policy.source.name.startswith("builtin:"):
        severity = "info"
    message = f"{written.text} matches no stored module"
    if hint is not None:
        message += f"; {told(view, hint)}"
    fix = None if hint is None else str(hint.replaced)
    return CODE.in_policy(message, view.policy.source, written.span, fix=fix, severity=severity)


CHECK = Check(CODE, find)
