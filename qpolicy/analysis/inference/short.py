"""The short form: a policy that asks the tensors themselves, only where the list is wrong about them."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.analysis.inference.evidence import State, decided, from_tensors
from qpolicy.analysis.inference.infer import Inferred, refuse_without_config
from qpolicy.analysis.inference.plans import Planner
from qpolicy.analysis.inference.verify import verify
from qpolicy.bind import parse
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import QPolicyError
from qpolicy.lang import Source, format_source

_RULES: tuple[tuple[State, str], ...] = (
    ("unquantized", "not quantized_on_disk: unquantized"),
    ("quantized", "quantized_on_disk: quantized"),
)
_SCOPES = {
    frozenset({True}): "draft and ",
    frozenset({False}): "target and ",
    frozenset({True, False}): "",
}
"""Who gets modules wrong, the draft (True) or the target, to the words that say so."""


def infer_with_facts(checkpoint: Checkpoint, *, engine: str = "sglang", name: str = "<learned>") -> Inferred:
    """Return the policy that corrects the checkpoint's list by what is on disk, and leaves the rest to it.

    Args:
        checkpoint: The checkpoint.
        engine: The engine that would load it.
        name: What messages call the policy.

    Raises:
        NothingToCheckError: There is nothing to learn from.
        QPolicyError: Its modules are quantized, but no config file says how.
    """
    evidence = from_tensors(checkpoint)
    refuse_without_config(checkpoint, evidence)
    drop = Planner(checkpoint, evidence, engine).drop
    rules = list(_rules(checkpoint, evidence.states, engine, drop))
    heading = f"# Learned by `qpolicy init --facts`: {_said(len(rules))}."
    blocks = ["qpolicy 1", heading, *([drop] if drop else []), "\n".join([*rules, "otherwise: native"])]
    policy = parse(format_source(Source(name, "\n\n".join(blocks) + "\n")), filename=name)
    verdict = verify(policy, checkpoint, evidence, engine)
    if verdict.wrong:
        raise QPolicyError(f"{checkpoint.path}: no fact tells how {verdict.wrong[0]} is stored")
    return Inferred(policy, evidence, verdict.unmet)


def _rules(checkpoint: Checkpoint, states: dict[str, State], engine: str, drop: str | None) -> Iterator[str]:
    alone = parse(f"qpolicy 1\n{drop or ''}\n")
    lost: dict[State, set[bool]] = {"unquantized": set(), "quantized": set()}
    for matcher, ask, decision in decided(alone, checkpoint, engine):
        for module in ask.modules:
            state = states.get(module.name)
            if state is not None and state != decision.outcome:
                lost[state].add(matcher.binding.world.draft)
    for state, rule in _RULES:
        if lost[state]:
            yield f"when {_SCOPES[frozenset(lost[state])]}{rule}"


def _said(rules: int) -> str:
    return "the tensors decide where the list is wrong" if rules else "the list is right about every stored module"
