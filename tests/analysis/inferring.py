"""What tests of inference look at: the policy's length, and each module's decision beside its state."""

from __future__ import annotations

from collections.abc import Iterator

import qpolicy
from qpolicy.analysis.inference import Inferred
from qpolicy.bind import askers, asks, decision_of
from qpolicy.lang import Source, format_source
from qpolicy.lang.tree import Let, Rule
from qpolicy.lint.run import run_checks


def patterns(learned: Inferred) -> list[str]:
    """Every pattern that the policy writes, a set that it does not define counting as one."""
    statements = learned.policy.document.statements
    lets = {one.name: one.selectors for one in statements if isinstance(one, Let)}
    selectors = [selector for one in statements if isinstance(one, Rule) for selector in one.selectors]
    texts = [
        getattr(inner, "text", "@mtp")
        for selector in selectors
        for inner in lets.get(getattr(selector, "name", ""), (selector,))
    ]
    assert len(lets) <= len(selectors)
    return texts


def rules(learned: Inferred) -> list[str]:
    """The lines of the policy that decide, comments and sets aside."""
    lines = [line.partition("  #")[0] for line in learned.text.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "let ", "qpolicy "))]


def outcomes(checkpoint: qpolicy.Checkpoint, policy: qpolicy.Policy) -> Iterator[tuple[str, str | None, str | None]]:
    """Each stored module that an engine asks about: its name, what is decided, and what is on disk."""
    words = {True: "quantized", False: "unquantized", None: None}
    for draft in askers(checkpoint):
        matcher = policy.bind(checkpoint, draft=draft)
        for ask in asks(matcher):
            decision = decision_of(matcher, ask)
            for member in decision.members:
                outcome = "error" if decision.problem else member.outcome
                yield member.name, outcome, words[checkpoint.modules[member.name].quantized]


def assert_agrees(checkpoint: qpolicy.Checkpoint, learned: Inferred) -> None:
    """The policy, read again from its text, gives every module its state on disk, and is laid out canonically."""
    policy = qpolicy.parse(learned.text)
    found = list(outcomes(checkpoint, policy))
    assert found
    assert not [one for one in found if one[1] != one[2]]
    assert format_source(Source("learned", learned.text)) == learned.text


def findings(checkpoint: qpolicy.Checkpoint, learned: Inferred) -> list[str]:
    """What the checks say against the policy; what they say of the list itself is not its fault."""
    found = run_checks(checkpoint, learned.policy).findings
    return [f"{one.code} {one.message}" for one in found if one.severity != "info" and one.code[:3] != "QP3"]
