"""QP206: a rule was not applied because its condition is unknown."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.bind import BoundRule
from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

CODE = Code(
    "QP206",
    "condition-unknown",
    "warning",
    "A rule was not applied to modules because its condition could not be told true or false for them.",
)


def find(view: View) -> Iterator[Finding]:
    """Report each rule once, with the modules for which its condition is unknown."""
    unknown: dict[BoundRule, list[str]] = {}
    for layer in view.layers:
        for member in layer.decision.members:
            for rule in member.skipped:
                unknown.setdefault(rule, []).append(member.name)
    for rule, modules in unknown.items():
        count = f"{len(modules)} modules" if len(modules) > 1 else modules[0]
        yield CODE.in_policy(
            f"this rule was not applied to {count}: the condition is unknown there, because the facts it asks for "
            "cannot be read from this checkpoint",
            rule.source,
            rule.node.span,
            modules=tuple(modules),
        )
    yield from _drops(view)


def _drops(view: View) -> Iterator[Finding]:
    for matcher in view.matchers[-1:]:
        for drop in matcher.binding.drops:
            if drop.truth is None and matcher.binding.world.draft:
                yield CODE.in_policy(
                    "this drop does not drop: its condition is unknown, because its pattern selects no stored module "
                    "or the facts it asks for cannot be read from this checkpoint",
                    drop.rule.source,
                    drop.rule.node.span,
                )


CHECK = Check(CODE, find)
