"""Shows a rehearsal: every layer with its decision and what SGLang gives it, then what would not load."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from qpolicy.bind import Decision, Matcher
from qpolicy.cli.asking import rule_json
from qpolicy.cli.columns import laid_out
from qpolicy.cli.folding import Row, fold
from qpolicy.cli.terminal import paint_for, width
from qpolicy.lint.finding import Finding
from qpolicy.lint.reporters import Checked, render
from qpolicy.lint.reporters.as_json import document, report
from qpolicy.lint.reporters.checked import counted
from qpolicy.lint.reporters.escape import escape
from qpolicy.lint.reporters.paint import plain
from qpolicy.sglang.architectures_table import OWNERS, engine_names
from qpolicy.sglang.rehearse_job import Layer, Rehearsed
from qpolicy.sglang.standin import Standing

_BETWEEN = "\0"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A rehearsal and what is said about it.

    Attributes:
        checkpoint: The checkpoint, as the user named it.
        draft: Whether its draft was built.
        standing: Which path SGLang took.
        result: What was seen.
        matcher: Decides the layers.
        findings: What was found.
    """

    checkpoint: str
    draft: bool
    standing: Standing
    result: Rehearsed
    matcher: Matcher
    findings: tuple[Finding, ...]

    def decision(self, layer: Layer) -> Decision | None:
        """Return the decision for a layer; None for one that asks nobody or has no name to ask by."""
        if not layer.asked or not layer.name:
            return None
        return self.matcher.decide(layer.name, kind=layer.kind, shared=layer.shared)


def as_text(rehearsal: Rehearsal, *, full: bool) -> str:
    """Return the rehearsal for people.

    Args:
        rehearsal: What to show.
        full: Whether layers that differ in a number only get a row each.
    """
    return "".join(_lines(rehearsal, full))


def as_json(rehearsal: Rehearsal) -> str:
    """Return the rehearsal for programs."""
    result, standing = rehearsal.result, rehearsal.standing
    return document(
        {
            "model": result.model,
            "draft": rehearsal.draft,
            "path": standing.path,
            "device": standing.device,
            "note": standing.note,
            "layers": [_layer_json(rehearsal, layer) for layer in result.layers],
            "findings": json.loads(report([_checked(rehearsal)], plain, 0))["findings"],
        }
    )


def _lines(rehearsal: Rehearsal, full: bool) -> Iterator[str]:
    result, standing = rehearsal.result, rehearsal.standing
    paint = paint_for(sys.stdout)
    who = "draft" if rehearsal.draft else "target"
    took = f"{result.seconds:.1f} s"
    yield f"{paint(who, 'strong')}: {escape(result.model or 'not built')}, "
    yield f"{counted(len(result.layers), 'layer')}, {standing.path} path as {standing.device}, {took}\n"
    if standing.note:
        yield f"note: {standing.note}\n"
    if result.layers:
        names = dict(engine_names(result.layers))
        rows = [_row(rehearsal, layer, names[layer.path]) for layer in result.layers]
        yield laid_out(_cells(rows if full else fold(rows)))
    yield "\n"
    yield render([_checked(rehearsal)], paint=paint, width=width())


def _checked(rehearsal: Rehearsal) -> Checked:
    owners = sum(layer.kind in OWNERS for layer in rehearsal.result.layers)
    return Checked(rehearsal.checkpoint, rehearsal.findings, owners)


def _row(rehearsal: Rehearsal, layer: Layer, name: str) -> Row:
    decision = rehearsal.decision(layer)
    given = _BETWEEN.join((layer.method or layer.layer, layer.scheme, layer.kernel))
    return Row(name, name, layer.kind, _outcome(layer, decision), _by(decision), given)


def _outcome(layer: Layer, decision: Decision | None) -> str:
    if not layer.asked:
        return "not asked"
    return "asked without a name" if decision is None else decision.outcome or "unknown"


def _by(decision: Decision | None) -> str:
    if decision is None:
        return ""
    rule = decision.rule
    return "list" if rule is None else f"{Path(rule.file).name}:{rule.line}"


def _cells(rows: list[Row]) -> dict[str, list[Text]]:
    given = [row.on_disk.split(_BETWEEN) for row in rows]
    cells = {
        "layer": [row.name for row in rows],
        "layers": ["" if row.count == 1 else str(row.count) for row in rows],
        "kind": [row.kind for row in rows],
        "decision": [row.outcome for row in rows],
        "by": [row.by for row in rows],
        "method": [method for method, _, _ in given],
        "scheme": [scheme for _, scheme, _ in given],
        "kernel": [kernel for _, _, kernel in given],
    }
    return {title: [Text(escape(value)) for value in values] for title, values in cells.items() if any(values)}


def _layer_json(rehearsal: Rehearsal, layer: Layer) -> dict[str, Any]:
    decision = rehearsal.decision(layer)
    return {
        "name": layer.name,
        "path": layer.path,
        "kind": layer.kind,
        "layer": layer.layer,
        "asked": layer.asked,
        "outcome": None if decision is None else decision.outcome,
        "rule": None if decision is None else rule_json(decision.rule),
        "method": layer.method or None,
        "scheme": layer.scheme or None,
        "kernel": layer.kernel or None,
    }
