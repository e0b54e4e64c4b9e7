"""Learns a policy from a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.analysis.inference.evidence import Evidence, from_list, from_tensors
from qpolicy.analysis.inference.plans import Planner
from qpolicy.analysis.inference.verify import verify
from qpolicy.analysis.inference.writing import write
from qpolicy.bind import Policy, parse
from qpolicy.checkpoint import Checkpoint
from qpolicy.errors import QPolicyError


@dataclass(frozen=True, slots=True)
class Inferred:
    """A policy that was learned and then compared with every module.

    Attributes:
        policy: The policy.
        evidence: What it was learned from.
        unmet: Sentences about layers that no policy can build, because their parts are stored differently or no scheme
            fits them; empty for a sound checkpoint.
    """

    policy: Policy
    evidence: Evidence
    unmet: tuple[str, ...]

    @property
    def text(self) -> str:
        """The policy's text, in its canonical layout."""
        return self.policy.source.text


def infer(checkpoint: Checkpoint, *, engine: str = "sglang", listed: bool = False, name: str = "<learned>") -> Inferred:
    """Return the shortest readable policy whose decisions are what the checkpoint shows, in patterns alone.

    Args:
        checkpoint: The checkpoint.
        engine: The engine that would load it.
        listed: Learn from the checkpoint's list, as the engine reads it, instead of from the tensors.
        name: What messages call the policy.

    Returns:
        The policy, which agrees with every stored module whose state is known.

    Raises:
        NothingToCheckError: There is nothing to learn from.
        QPolicyError: No policy in patterns can say it.
    """
    evidence = from_list(checkpoint, engine) if listed else from_tensors(checkpoint)
    refuse_without_config(checkpoint, evidence)
    source = f"the list, as {engine} reads it" if listed else "the tensors"
    heading = f"Learned by `qpolicy init` from {source}."
    found: list[Inferred] = []
    wrong: tuple[str, ...] = ()
    for plan in Planner(checkpoint, evidence, engine, listed).plans():
        policy = parse(write(plan, evidence, heading), filename=name)
        verdict = verify(policy, checkpoint, evidence, engine)
        wrong = wrong or verdict.wrong
        if not verdict.wrong:
            found.append(Inferred(policy, evidence, verdict.unmet))
            if not verdict.unmet:
                break
    if not found:
        raise _no_pattern(checkpoint, wrong[0])
    return min(found, key=lambda one: len(one.unmet))


def refuse_without_config(checkpoint: Checkpoint, evidence: Evidence) -> None:
    """Refuse a checkpoint that is quantized without saying how.

    Raises:
        QPolicyError: A module is quantized, and no config file has a quantization config.
    """
    if checkpoint.quantization is None and evidence.count("quantized"):
        example = evidence.having("quantized")[0]
        raise QPolicyError(
            f"{checkpoint.path}: {example} is quantized on disk, but no config file has a quantization config; no "
            "engine can load it, whatever a policy says. Add `quantization_config` to config.json"
        )


def _no_pattern(checkpoint: Checkpoint, module: str) -> QPolicyError:
    return QPolicyError(
        f"{checkpoint.path}: no pattern tells {module} from modules in the opposite state; expected names that differ "
        "in characters that a pattern can spell. `--facts` writes a policy that asks the tensors"
    )
