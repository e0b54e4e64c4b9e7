"""Runs a policy's ``expect`` lines against a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from qpolicy.bind.asked import Ask, askers, asks, decision_of
from qpolicy.bind.decision import Decision
from qpolicy.bind.matcher import Matcher
from qpolicy.bind.policy import Policy
from qpolicy.checkpoint import Checkpoint
from qpolicy.lang.tree import Expect


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one ``expect`` line found for one module.

    Attributes:
        expect: The line.
        text: The line as written.
        decision: The decision for a module that it selects; None when it selects none.
        draft: Whether the module was asked as the draft.
        met: Whether the outcome is the expected one.
    """

    expect: Expect
    text: str
    decision: Decision | None
    draft: bool
    met: bool


def run_expectations(
    policy: Policy,
    checkpoint: Checkpoint,
    *,
    engine: str = "sglang",
    packed: Mapping[str, Sequence[str]] | None = None,
    standalone: bool = False,
) -> tuple[Expectation, ...]:
    """Ask every module that an ``expect`` line selects, and compare.

    Args:
        policy: The policy.
        checkpoint: The checkpoint.
        engine: Who asks.
        packed: The engine's fused families, as in :meth:`Policy.bind`.
        standalone: The checkpoint is a draft of its own and holds no target.

    Returns:
        One result for each line and module, one without a decision for a line that selects nothing.
    """
    lines = [statement for statement in policy.document.statements if isinstance(statement, Expect)]
    if not lines:
        return ()
    drafts = askers(checkpoint, standalone=standalone)
    matchers = [policy.bind(checkpoint, engine=engine, draft=draft, packed=packed) for draft in drafts]
    asked = [(matcher, ask) for matcher in matchers for ask in asks(matcher)]
    return tuple(result for line in lines for result in _run(policy, line, asked))


def _run(policy: Policy, line: Expect, asked: Sequence[tuple[Matcher, Ask]]) -> Iterator[Expectation]:
    text = " ".join(policy.source.slice(line.span).split())
    found = False
    for matcher, ask in asked:
        world = matcher.binding.world
        if line.asker is not None and (line.asker == "draft") != world.draft:
            continue
        if _selects(matcher, line, ask):
            found = True
            decision = decision_of(matcher, ask)
            yield Expectation(line, text, decision, world.draft, decision.outcome == line.outcome)
    if not found:
        yield Expectation(line, text, None, line.asker == "draft", False)


def _selects(matcher: Matcher, line: Expect, ask: Ask) -> bool:
    world = matcher.binding.world
    names = {ask.stored, *(alias for module in ask.modules for alias in world.stored.aliases(module.name))}
    # A draft may ask by a name that is another module's on disk (model.layers.0 of a draft is not the target's layer
    # 0), so the engine's spelling counts only where the line says who asks.
    if line.asker is not None or not world.draft:
        names.add(ask.name)
    patterns = matcher.binding.sets.expand(line.selector)
    return any(pattern.matches(name) for pattern in patterns for name in names)
