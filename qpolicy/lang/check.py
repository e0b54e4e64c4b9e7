"""What must hold between the statements of a policy, apart from what is inside its patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from qpolicy.lang.issue import Complaint
from qpolicy.lang.script import BUILT_IN_SETS, MAX_ISSUES, VERSION, Script
from qpolicy.lang.set_checks import sets_acyclic, sets_bounded, sets_known, sets_named_once
from qpolicy.lang.tree import (
    About,
    Drop,
    Flag,
    Is,
    Let,
    Otherwise,
    PatternRef,
    Rule,
    Statement,
    Version,
)
from qpolicy.lang.walk import condition_of, facts_of, selectors_of


def version_first(script: Script) -> Iterator[Complaint]:
    """The first statement, and only the first, states the version."""
    first = script.statements[0].span.start if script.statements else -1
    versions = [statement for statement in script.statements if isinstance(statement, Version)]
    if not versions and not script.statements and not script.broken:
        yield Complaint("QP003", "the policy is empty", script.start, hint=f"begin with the line `qpolicy {VERSION}`")
    elif not script.lost_version and (not versions or versions[0].span.start > first):
        message = "the first statement must state the version of the language"
        yield Complaint("QP003", message, script.start, hint=f"begin with the line `qpolicy {VERSION}`")
    for again in versions[1:]:
        yield Complaint("QP003", "the version is stated twice", again.span, hint="remove this line")


def version_known(script: Script) -> Iterator[Complaint]:
    """The version is one that this package reads."""
    for statement in script.statements:
        if isinstance(statement, Version) and statement.number != VERSION:
            message = f"version {statement.number} of the language is not known here"
            hint = f"write `qpolicy {VERSION}`, or install a newer qpolicy"
            yield Complaint("QP003", message, statement.span, hint=hint)


def drops_before_rules(script: Script) -> Iterator[Complaint]:
    """Drops come before all rules."""
    ruled: Statement | None = None
    for statement in script.statements:
        if isinstance(statement, Drop) and ruled is not None:
            hint = f"move it above the rule at line {ruled.span.line}"
            yield Complaint("QP009", "a drop comes before all rules", statement.span, hint=hint)
        elif isinstance(statement, Rule | Otherwise):
            ruled = ruled or statement


def otherwise_last(script: Script) -> Iterator[Complaint]:
    """At most one ``otherwise``, and no rule after it."""
    seen: Otherwise | None = None
    for statement in script.statements:
        if isinstance(statement, Otherwise) and seen is not None:
            message = "there is a second `otherwise`"
            hint = f"the first is at line {seen.span.line}; keep one of them, after the last rule"
            yield Complaint("QP009", message, statement.span, hint=hint)
        elif isinstance(statement, Otherwise):
            seen = statement
        elif isinstance(statement, Rule) and seen is not None:
            message = f"no rule can follow `otherwise` (line {seen.span.line})"
            yield Complaint(
                "QP009", message, statement.span, hint="move the rule above it; the first that applies decides"
            )


def drops_ask_the_checkpoint(script: Script) -> Iterator[Complaint]:
    """The condition of a drop holds only facts that are the same for every module."""
    for statement in script.statements:
        if not isinstance(statement, Drop):
            continue
        for fact in facts_of(condition_of(statement)):
            if isinstance(fact, About) or (isinstance(fact, Flag) and fact.name in {"draft", "target"}):
                continue
            if isinstance(fact, Is) and fact.field != "kind":
                continue
            hint = "a drop may ask `draft`, `target`, `method`, `format`, `arch`, `engine`, and facts with a PATTERN"
            if isinstance(fact, Flag):
                hint = f"say which modules: `{fact.name}(PATTERN)`"
            yield Complaint(
                "QP014", "this fact is about one module, a drop is about the checkpoint", fact.span, hint=hint
            )


def patterns_mean_themselves(script: Script) -> Iterator[Complaint]:
    """A pattern of one bare segment is not the name of a set that was meant.

    Within its own ``let`` such a pattern can only be the segment, and quotes say the same anywhere.
    """
    named = {let.name for let in script.lets()} | set(BUILT_IN_SETS)
    for statement in script.statements:
        own = statement.name if isinstance(statement, Let) else None
        for selector in selectors_of(statement):
            if isinstance(selector, PatternRef) and selector.text in named and selector.text != own:
                name = selector.text
                message = f"the pattern `{name}` is only a module of that name, not the set `@{name}`"
                hint = f'write `@{name}` for the set, or `"{name}"` for the module'
                yield Complaint("QP013", message, selector.span, hint=hint)


Pass: TypeAlias = Callable[[Script], Iterator[Complaint]]

PASSES: tuple[Pass, ...] = (
    version_first,
    version_known,
    drops_before_rules,
    otherwise_last,
    sets_named_once,
    sets_known,
    sets_acyclic,
    sets_bounded,
    drops_ask_the_checkpoint,
    patterns_mean_themselves,
)
"""Every check between statements, in the order in which they run."""


def check(script: Script) -> list[Complaint]:
    """Return what every pass has to say, of each at most :data:`MAX_ISSUES`."""
    return [complaint for run in PASSES for complaint in islice(run(script), MAX_ISSUES)]
