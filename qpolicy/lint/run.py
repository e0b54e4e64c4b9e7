"""Runs every check on a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.bind import Policy
from qpolicy.checkpoint import Checkpoint
from qpolicy.lint.checks import CHECKS
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks found.

    Attributes:
        findings: The findings, in the order of the checks.
        layers: How many layers were looked at, target and draft together.
    """

    findings: tuple[Finding, ...]
    layers: int


def run_checks(
    checkpoint: Checkpoint,
    policy: Policy | None,
    *,
    engine: str = "sglang",
    draft_checkpoint: Checkpoint | None = None,
    draft_policy: Policy | None = None,
    strict: bool = False,
) -> Report:
    """Check one checkpoint, and a standalone draft's beside it.

    Args:
        checkpoint: The target's checkpoint; the draft's too where it holds one.
        policy: Its policy; None checks the checkpoint's own list alone.
        engine: The engine that would load it.
        draft_checkpoint: The checkpoint of a standalone draft.
        draft_policy: The policy that lies beside the standalone draft.
        strict: Make unknown conditions that matter errors.

    Raises:
        BindError: The policy does not fit the checkpoint.
    """
    views = [View.of(checkpoint, policy, engine=engine, strict=strict)]
    if draft_checkpoint is not None:
        views.append(View.of(draft_checkpoint, draft_policy, engine=engine, strict=strict, standalone=True))
    findings = tuple(finding for view in views for check in CHECKS for finding in check.find(view))
    return Report(findings, sum(len(view.layers) for view in views))
