"""QP111: a name that looks like misspelt syntax."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lang.tree import PatternRef
from qpolicy.lang.walk import selectors_of
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck
from qpolicy.lint.repair import Edit, Repair
from qpolicy.lint.rules.meant import meant

CODE = Code(
    "QP111",
    "misspelt-syntax",
    "warning",
    "A pattern is a name that hardly any module has, and looks like misspelt syntax.",
    Page(
        explanation="Any word may be a module's name. So `otherwize: native` is a rule for a module `otherwize`, and "
        "`layers.{0-3}` stands for one layer whose name is `0-3`; neither is an error, and both do nothing.",
        bad=Example("qpolicy 1\n\n**.mlp.gate: unquantized\notherwize: native\n"),
        good=Example("qpolicy 1\n\n**.mlp.gate: unquantized\notherwise: native\n"),
        fix="Correct it; a name that is really meant is written in quotes.",
        safety="unsafe",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each such pattern."""
    source = analysis.policy.source
    for statement in analysis.policy.document.statements:
        for one in selectors_of(statement):
            if isinstance(one, PatternRef) and (instead := meant(one, statement)) is not None:
                yield CODE.in_policy(
                    f"{one.text} only matches a module of that name; {instead} was probably meant",
                    source,
                    one.span,
                    fix=f"write {instead}, or put the name in quotes",
                    repair=Repair((Edit(one.span.start, one.span.end, instead),), safe=False),
                )


CHECK = PolicyCheck(CODE, find)
