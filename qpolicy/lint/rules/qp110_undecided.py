"""QP110: what could not be told in reasonable time."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis import Analysis
from qpolicy.lint.check import Code, Example, Page
from qpolicy.lint.finding import Finding
from qpolicy.lint.policy_check import PolicyCheck

CODE = Code(
    "QP110",
    "undecided",
    "info",
    "Whether a rule is ever reached, or a pattern adds anything, takes too long to tell.",
    Page(
        explanation="Answers about a policy are exact, and some policies can ask for more work than anybody would wait "
        "for: a `**` with very many segments behind it that may be anything, many patterns with several `**` in the "
        "middle, or conditions with very many facts. The analysis then stops and says so. The policy still means what "
        "it says.",
        bad=Example(f"qpolicy 1\n\n**.a{'.?' * 14}: unquantized\n"),
        good=Example("qpolicy 1\n\n**.a.*: unquantized\n"),
        fix="Use fewer `**` and `?` in one pattern, or fewer facts in one condition. Nothing has to be done.",
    ),
)


def find(analysis: Analysis) -> Iterator[Finding]:
    """Report each undecided statement; where all of them are, only the first."""
    source = analysis.policy.source
    undecided = [proof for proof in analysis.proofs if proof.budget]
    if undecided and all(proof.verdict == "undecided" for proof in analysis.proofs):
        first = undecided[0]
        message = f"which rules are ever reached is undecided: it takes more than {first.budget} to tell"
        yield CODE.in_policy(message, source, first.decider.statement.span)
        undecided = []
    for proof in undecided:
        about = "whether this is ever reached" if proof.verdict == "undecided" else "which lines come before this one"
        message = f"{about} is undecided: it takes more than {proof.budget} to tell"
        yield CODE.in_policy(message, source, proof.decider.statement.span)
    for statement in analysis.repeats.unsure:
        yield CODE.in_policy(
            f"whether each pattern adds something is undecided: it takes more than {analysis.repeats.budget} to tell",
            source,
            statement.span,
        )


CHECK = PolicyCheck(CODE, find)
