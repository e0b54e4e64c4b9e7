"""A list's entries in patterns, one by one, where there is no checkpoint to ask about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from qpolicy.analysis.entries import Translation, meaning, translate
from qpolicy.analysis.entries.fold import folded, segments_of
from qpolicy.analysis.importing.notes import called
from qpolicy.analysis.importing.rules import ListRule
from qpolicy.analysis.importing.writing import counted
from qpolicy.analysis.inference.groups import group_of
from qpolicy.native import Entry, Group, NativeConfig
from qpolicy.native.records import Record

_KINDS = ("linear", "moe", "lm_head")


@dataclass(frozen=True, slots=True)
class Said:
    """What a list's entries come to.

    Attributes:
        rules: The rules.
        remarks: A comment for each.
        otherwise: What holds for every other layer.
        notes: Comment lines about entries that are not said, or not exactly.
        unsaid: Those that are not said at all, in sentences.
    """

    rules: tuple[ListRule, ...]
    remarks: tuple[str, ...]
    otherwise: str
    notes: tuple[str, ...]
    unsaid: tuple[str, ...]


def entrywise(config: NativeConfig, record: Record) -> Said:
    """Translate every entry that the engine reads, and put those together that differ in one segment."""
    read = [entry for entry in config.entries if entry.key in (*record.lists, *(record.section_lists or ()))]
    read += [target for group in config.groups if group.role == "rule" for target in _excluding(group)]
    translated = {entry: translate(entry, record) for entry in read}
    rules, remarks = _rules(translated)
    unsaid = [f"{called([entry])}: {one.why}" for entry, one in translated.items() if not one.patterns]
    unsaid += [f"{key} lists what is quantized" for key in dict.fromkeys(entry.key for entry in config.included)]
    near = [called([entry]) for entry, one in translated.items() if one.patterns and _is_near(entry, one)]
    never = [ListRule((), "unquantized", condition=f"kind == {kind}") for kind in _KINDS if kind not in record.kinds]
    return Said(
        (*rules, *never),
        (*remarks, *[f"{record.engine} never quantizes these" for _ in never]),
        "quantized" if len(config.schemes) <= 1 else "native",
        (
            *(f"ERROR: not said: {text}" for text in unsaid[:20]),
            *(f"Said nearly: {text}; its dots are taken for dots" for text in near[:20]),
        ),
        tuple(unsaid),
    )


def _excluding(group: Group) -> tuple[Entry, ...]:
    """Return the strings of a rule that leaves modules alone; other settings are no matter of a policy."""
    return () if group.quantizes else group.targets


def _is_near(entry: Entry, translation: Translation) -> bool:
    """Tell whether an expression is said only nearly; the dots of a plain name are no expression."""
    return not translation.exact and meaning(entry.text).syntax != "name"


def _rules(translated: dict[Entry, Translation]) -> tuple[tuple[ListRule, ...], tuple[str, ...]]:
    groups: dict[str | None, list[Entry]] = {}
    for entry in translated:
        group = group_of(entry.text)
        groups.setdefault(group.name if group else None, []).append(entry)
    rules: list[ListRule] = []
    remarks: list[str] = []
    for name, entries in sorted(groups.items(), key=lambda item: (item[0] is None, item[0] or "")):
        patterns = folded(segments_of(text) for text in _unfolded(translated[entry] for entry in entries))
        if name is not None and patterns:
            rules.append(ListRule(patterns, "unquantized", name))
            remarks.append(counted(len(entries), "entry", "entries"))
        elif patterns:
            rules += [ListRule((text,), "unquantized") for text in patterns]
            remarks += [""] * len(patterns)
    return tuple(rules), tuple(remarks)


def _unfolded(translations: Iterable[Translation]) -> Iterator[str]:
    return (text for one in translations for text in one.patterns)
