"""Runs every check on a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qpolicy.bind import Policy
from qpolicy.checkpoint import Checkpoint
from qpolicy.lint.checks import CHECKS
from qpolicy.lint.finding import Finding
from qpolicy.lint.selection import EVERYTHING, Selection
from qpolicy.lint.settle import Settled, settle
from qpolicy.lint.view import View


@dataclass(frozen=True, slots=True)
class Report:
    """What the checks found.

    Attributes:
        findings: The findings, in the order of the checks.
        layers: How many layers were looked at, target and draft together.
        suppressed: How many findings comments of the policies suppressed.
    """

    findings: tuple[Finding, ...]
    layers: int
    suppressed: int = 0


LOOKED_FOR = frozenset(check.code.code for check in CHECKS)
"""The codes that can be found in a checkpoint and its policy together."""


def run_checks(
    checkpoint: Checkpoint,
    policy: Policy | None,
    *,
    engine: str | Sequence[str] = "sglang",
    draft_checkpoint: Checkpoint | None = None,
    draft_policy: Policy | None = None,
    strict: bool = False,
    selection: Selection = EVERYTHING,
) -> Report:
    """Check one checkpoint, and a standalone draft's beside it.

    Args:
        checkpoint: The target's checkpoint; the draft's too where it holds one.
        policy: Its policy; None checks the checkpoint's own list alone.
        engine: The engine that would load it, or several: the first is checked, and compared with the others.
        draft_checkpoint: The checkpoint of a standalone draft.
        draft_policy: The policy that lies beside the standalone draft.
        strict: Make unknown conditions that matter errors.
        selection: Which findings are wanted.

    Raises:
        BindError: The policy does not fit the checkpoint.
    """
    engines = (engine,) if isinstance(engine, str) else tuple(dict.fromkeys(engine))
    views = [_compared([View.of(checkpoint, policy, engine=one, strict=strict) for one in engines])]
    if draft_checkpoint is not None:
        drafts = [
            View.of(draft_checkpoint, draft_policy, engine=one, strict=strict, standalone=True) for one in engines
        ]
        views.append(_compared(drafts))
    settled = [_settled(view, selection) for view in views]
    return Report(
        tuple(finding for one in settled for finding in one.findings),
        sum(len(view.layers) for view in views),
        sum(one.suppressed for one in settled),
    )


def _settled(view: View, selection: Selection) -> Settled:
    found = (finding for check in CHECKS for finding in check.find(view))
    source = None if view.policy is None else view.policy.source
    return settle(found, source, selection, LOOKED_FOR, final=False)


def _compared(views: Sequence[View]) -> View:
    """Return the first engine's view, which knows those of the others."""
    return replace(views[0], others=tuple(views[1:]))
