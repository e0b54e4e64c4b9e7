"""``qpolicy table``: lists every layer with its decision and its tensors."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from qpolicy.bind import Ask, Decision, Matcher, Policy, asks, decision_of, layers_of
from qpolicy.checkpoint import Checkpoint
from qpolicy.cli import options
from qpolicy.cli.asking import bound, decision_json, exit_code, opened
from qpolicy.cli.columns import columns
from qpolicy.cli.folding import Row, fold
from qpolicy.cli.terminal import paint_for, write
from qpolicy.errors import NothingToCheckError
from qpolicy.lint.reporters.as_json import document
from qpolicy.lint.reporters.checked import counted
from qpolicy.lint.reporters.escape import escape

_DECISIONS_TOLD = 10
_EVIDENCES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Section:
    """The layers of the target, or of the draft.

    Attributes:
        who: ``target`` or ``draft``.
        layers: Each layer with its decision.
        drops: Whether this draft is built without a quantization config.
    """

    who: str
    layers: tuple[tuple[Ask, Decision], ...]
    drops: bool

    @classmethod
    def of(cls, matcher: Matcher) -> Section:
        """Decide every layer that the engine is expected to ask about."""
        layers = tuple((ask, decision_of(matcher, ask)) for ask in asks(matcher))
        drops = all(layer.drops for layer in layers_of(matcher))
        return cls("draft" if matcher.binding.world.draft else "target", layers, drops)


@click.command("table")
@options.checkpoint
@click.option("--draft", "only", flag_value="draft", help="Only the speculative draft.")
@click.option("--target", "only", flag_value="target", help="Only the target.")
@options.policy
@options.engine
@options.packed
@click.option("--full", is_flag=True, help="One row for each layer, numbered layers not folded together.")
@options.output_format("text", "json")
def command(
    checkpoint: str,
    only: str | None,
    policy: str | None,
    engine: str,
    packed: options.Families,
    full: bool,
    format_: str,
) -> int:
    """List every layer that the engine will ask about, with its decision, the deciding rule and what is on disk.

    Exits with 1 when a decision is an error or comes with a warning.
    """
    found, chosen = opened(checkpoint, policy)
    sections = [Section.of(matcher) for matcher in _matchers(found, chosen, only, engine, packed)]
    if not any(section.layers for section in sections):
        raise NothingToCheckError(f"{checkpoint}: nothing to list: no safetensors file here holds a layer")
    write(_json(sections) if format_ == "json" else _text(sections, full))
    return exit_code(decision for section in sections for _, decision in section.layers)


def _matchers(
    checkpoint: Checkpoint, policy: Policy | None, only: str | None, engine: str, packed: options.Families
) -> Iterator[Matcher]:
    both = ("target", "draft") if checkpoint.draft_modules else ("target",)
    for who in (only,) if only else both:
        yield bound(checkpoint, policy, engine=engine, draft=who == "draft", packed=packed)


def _json(sections: Sequence[Section]) -> str:
    layers = [
        {
            "draft": section.who == "draft",
            "stored": ask.stored,
            "kind": ask.kind,
            **decision_json(decision),
            "on_disk": _on_disk(ask),
        }
        for section in sections
        for ask, decision in section.layers
    ]
    return document({"layers": layers, "drops": any(section.drops for section in sections)})


def _text(sections: Sequence[Section], full: bool) -> str:
    return "\n".join("".join(_section(section, full)) for section in sections if section.layers)


def _section(section: Section, full: bool) -> Iterator[str]:
    rows = [_row(ask, decision) for ask, decision in section.layers]
    without = ", built without a quantization config" if section.drops else ""
    yield f"{paint_for(sys.stdout)(section.who, 'strong')}: {counted(len(rows), 'layer')}{without}\n"
    yield columns(rows if full else fold(rows))
    notes = [note for _, decision in section.layers for note in _notes(decision)]
    for note in notes[:_DECISIONS_TOLD]:
        yield f"{escape(note)}\n"
    if len(notes) > _DECISIONS_TOLD:
        yield f"and {len(notes) - _DECISIONS_TOLD} more like these; --format json has all\n"


def _row(ask: Ask, decision: Decision) -> Row:
    scheme = f" as {decision.scheme}" if decision.scheme else ""
    rule = decision.rule
    return Row(
        name=ask.name,
        stored=ask.stored,
        kind=ask.kind,
        outcome=(decision.outcome or "unknown") + scheme,
        by="list" if rule is None else f"{Path(rule.file).name}:{rule.line}",
        on_disk="; ".join(_on_disk(ask)[:_EVIDENCES_SHOWN]),
    )


def _on_disk(ask: Ask) -> list[str]:
    return list(dict.fromkeys(module.evidence for module in ask.modules))


def _notes(decision: Decision) -> Iterator[str]:
    if decision.outcome == "error":
        yield f"error: {decision.reason}"
    for warning in decision.warnings:
        yield f"warning: {warning}"
