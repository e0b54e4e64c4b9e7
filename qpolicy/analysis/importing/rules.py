"""The rules of an imported policy, before they are text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from qpolicy.analysis.entries import syntax_of, translate
from qpolicy.analysis.entries.fold import folded, segments_of
from qpolicy.analysis.importing.sides import Sides
from qpolicy.analysis.inference.cover import cover
from qpolicy.analysis.inference.plan import DRAFT, name_plain
from qpolicy.analysis.inference.refused import Refused, aliases
from qpolicy.analysis.inference.shapes import spelled
from qpolicy.checkpoint import Checkpoint, draft_patterns
from qpolicy.native import Entry
from qpolicy.native.records import Record
from qpolicy.paths import Pattern, PatternIndex

_NUMBER = re.compile(r"\d+")
_HALF = "the list excludes only some parts of this layer"


@dataclass(frozen=True, slots=True)
class ListRule:
    """One rule.

    Attributes:
        patterns: What it matches, as texts of the language.
        decision: The decision as it is written.
        set: The set that holds the patterns, or None.
        condition: The condition as it is written, or empty.
        sources: The entries that it says, where it says expressions of the list; they are alike but for numbers.
    """

    patterns: tuple[str, ...]
    decision: str
    set: str | None = None
    condition: str = ""
    sources: tuple[Entry, ...] = ()


def rules_of(
    checkpoint: Checkpoint, sides: Sides, entries: Iterable[Entry], record: Record | None
) -> tuple[ListRule, ...]:
    """Return the rules that say what a list makes of a checkpoint.

    Args:
        checkpoint: The checkpoint.
        sides: Its modules by outcome.
        entries: The list's entries; an expression that can be said in patterns becomes a rule of its own.
        record: How the engine reads them; None leaves the expressions out.
    """
    refused = Refused((*sides.opposite, *(name for name, _ in sides.refused)))
    expressions = _alike(_expressions(sides, refused.names, entries, record)) if record else []
    index = PatternIndex([[Pattern.parse(text) for text in rule.patterns] for rule in expressions])
    rest = [name for name in sides.plain if not any(index.matches(alias) for alias in aliases(name))]
    planned = name_plain(checkpoint, rest, refused) if rest else ()
    named = [ListRule(rule.patterns, rule.decision, rule.set) for rule in planned]
    return (
        *_refusals(sides, refused),
        *_differing(sides),
        *(ListRule((spelled(shape),), "quantized") for shape in cover(sides.tables, Refused(sides.plain))),
        *named,
        *(rule for rule in expressions if _is_needed(rule, sides, [mtp_patterns(checkpoint, one) for one in named])),
    )


def mtp_patterns(checkpoint: Checkpoint, rule: ListRule) -> tuple[str, ...]:
    """Return a rule's patterns; those of the set that the language knows are the checkpoint's."""
    return draft_patterns(checkpoint) if rule.set == DRAFT else rule.patterns


def corrections(missed: Sequence[tuple[str, bool, str]]) -> tuple[ListRule, ...]:
    """Return a rule for every layer that the others get wrong.

    Args:
        missed: The layers' stored names, whether the draft asks, and what the engine makes of them.
    """
    groups: dict[tuple[bool, str], list[str]] = {}
    for name, draft, outcome in missed:
        groups.setdefault((draft, outcome), []).append(name)
    return tuple(
        ListRule((spelled(shape),), _decision(outcome), condition="draft" if draft else "target")
        for (draft, outcome), names in groups.items()
        for shape in cover(names, Refused(()))
    )


def _decision(outcome: str) -> str:
    return f'error "{_HALF}"' if outcome == "error" else outcome


def _expressions(sides: Sides, opposite: Set[str], entries: Iterable[Entry], record: Record) -> Iterator[ListRule]:
    left = {name: aliases(name) for name in sides.plain}
    for entry in entries:
        if syntax_of(entry.text) == "name":
            continue
        translation = translate(entry, record)
        patterns = _fitting(translation.patterns, left, opposite)
        if patterns:
            caught = _caught(patterns, left)
            left = {name: found for name, found in left.items() if name not in caught}
            yield ListRule(patterns, "unquantized", sources=(entry,))


def _alike(rules: Iterable[ListRule]) -> list[ListRule]:
    """Put rules together whose entries differ in numbers alone."""
    groups: dict[str, list[ListRule]] = {}
    for rule in rules:
        groups.setdefault(_NUMBER.sub("0", rule.sources[0].text), []).append(rule)
    return [
        ListRule(
            folded(segments_of(text) for rule in group for text in rule.patterns),
            "unquantized",
            sources=tuple(entry for rule in group for entry in rule.sources),
        )
        for group in groups.values()
    ]


def _is_needed(rule: ListRule, sides: Sides, others: Iterable[Sequence[str]]) -> bool:
    """Whether a rule matches a module that none of the others does."""
    index = PatternIndex([[Pattern.parse(text) for text in rule.patterns], *_parsed(others)])
    found = ({place for name in aliases(module) for place in index.matches(name)} for module in sides.plain)
    return any(places == {0} for places in found)


def _parsed(rules: Iterable[Sequence[str]]) -> Iterator[list[Pattern]]:
    return ([Pattern.parse(text) for text in patterns] for patterns in rules)


def _fitting(patterns: tuple[str, ...], left: dict[str, tuple[str, ...]], opposite: Set[str]) -> tuple[str, ...]:
    """Return the patterns if they catch something and nothing of the opposite state, in whole segments if possible."""
    if not patterns or any(Pattern.parse(text).matches(name) for text in patterns for name in opposite):
        return ()
    caught = _caught(patterns, left)
    needed = tuple(text for text in patterns if _caught((text,), left))
    if not caught:
        return ()
    tidy = tuple(dict.fromkeys(_whole_segments(text) for text in needed))
    kept = _caught(tidy, left) == caught and not any(
        Pattern.parse(text).matches(name) for text in tidy for name in opposite
    )
    return tidy if kept else needed


def _caught(patterns: Iterable[str], left: dict[str, tuple[str, ...]]) -> set[str]:
    parsed = [Pattern.parse(text) for text in patterns]
    return {name for name, found in left.items() if any(one.matches(alias) for one in parsed for alias in found)}


def _whole_segments(text: str) -> str:
    """Leave out the wildcards inside segments that hold other characters too, but no braces and no quotes."""
    segments = (
        segment if set(segment) <= {"*"} or set(segment) & set('{}"') else segment.replace("*", "")
        for segment in segments_of(text)
    )
    return next(iter(folded([tuple(segments)])))


def _refusals(sides: Sides, refused: Refused) -> Iterator[ListRule]:
    others = Refused(tuple(name for name in (*sides.plain, *sides.quantized)))
    names = [name for name, _ in sides.refused]
    for shape in cover(names, _without(others, names)) if names else ():
        yield ListRule((spelled(shape),), f'error "{_HALF}"')


def _without(others: Refused, names: Iterable[str]) -> Refused:
    """Leave out modules whose layer is among the names: a fused layer's own parts do not stand against it."""
    wanted = set(names)
    return replace(others, modules=tuple(one for one in others.modules if wanted.isdisjoint(aliases(one))))


def _differing(sides: Sides) -> Iterator[ListRule]:
    for name, outcome in sides.differing:
        yield ListRule((name,), outcome, condition="draft")
        yield ListRule((name,), "quantized" if outcome == "unquantized" else "unquantized", condition="target")
