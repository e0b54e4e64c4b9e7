"""The steps by which rules, and lists of what is quantized, exclude a name; see `qpolicy.native.exclusion`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qpolicy.native import settings
from qpolicy.native.config import Entry
from qpolicy.native.question import Families, Question, Verdict
from qpolicy.native.rules import Found

Step = Callable[[Question], Verdict | None]


def _of(found: Found | None) -> Verdict | None:
    if found is None:
        return None
    return Verdict(found.excludes and found.error is None, () if found.error else (found.entry,), found.error)


def _rule(question: Question) -> Verdict | None:
    """A rule that leaves the name alone, or over which the engine stumbles; other rules leave it to later steps."""
    verdict = _of(question.rules.first(question.name))
    return verdict if verdict is not None and (verdict.excluded or verdict.error) else None


def _rule_if_exact(question: Question) -> Verdict | None:
    """A rule that names the module letter for letter: it decides, whatever else is said."""
    verdict = _of(question.rules.first(question.name, tiers=1))
    return verdict if verdict is None or verdict.excluded else Verdict(False)


def _rule_family(question: Question) -> Verdict | None:
    for name in question.families():
        verdict = _of(question.rules.first(name))
        if verdict is not None and (verdict.excluded or verdict.error):
            return verdict
    return None


def _rule_by_families(question: Question, families: Families) -> Verdict | None:
    """All shards of a fused layer, or a layer of its own, are left alone by rules; some of them: an error."""
    leaf = question.name.rpartition(".")[2]
    shards = [question.name.replace(leaf, shard) for shard in families[leaf]] if leaf in families else [question.name]
    found = {shard: question.rules.first(shard) for shard in shards}
    excluded = tuple(shard for shard, one in found.items() if one is not None and one.excludes)
    kept = tuple(shard for shard in found if shard not in excluded)
    entries = tuple(one.entry for one in found.values() if one is not None and one.excludes)
    if excluded and kept:
        why = f"the config leaves {_leaves(excluded)} of {question.name} alone but not {_leaves(kept)}"
        return Verdict(False, entries, why, (excluded, kept))
    return Verdict(True, entries) if excluded else None


def _expert_zero(question: Question) -> Verdict | None:
    """The scheme of the first expert's projections is that of all; without one for each, an error."""
    if question.kind != "moe":
        return None
    choice = settings.expert_zero(question)
    if choice.error is None:
        return Verdict(False)
    return Verdict(False, choice.entries, choice.error)


def _outside_included(question: Question) -> Verdict | None:
    included = question.included
    return None if included is None or included.hits(question.name) else Verdict(True)


def _outside_included_by_shards(question: Question) -> Verdict | None:
    if question.included is None:
        return None
    shards = question.shards() or (question.name,)
    kept = tuple(shard for shard in shards if question.included.hits(shard))
    excluded = tuple(shard for shard in shards if shard not in kept)
    if kept and excluded:
        why = f"the config has {_leaves(kept)} of {question.name} quantized but not {_leaves(excluded)}"
        return Verdict(False, (), why, (excluded, kept))
    return None if kept else Verdict(True)


def _half_included(question: Question) -> Verdict | None:
    verdict = _outside_included_by_shards(question)
    return verdict if verdict is not None and verdict.error else None


def _settings(question: Question, *, explicit: bool) -> Verdict | None:
    found = settings.settings(question, explicit=explicit)
    named = [one.entry for one in found if one.entry is not None and not one.group.quantizes]
    entries = tuple(dict.fromkeys(named))
    members = _disagreeing(found)
    if len({one.values for one in found}) > 1:
        why = f"the members of {question.name} have different settings: " + ", ".join(map(str, found[:4]))
        return Verdict(False, entries, why, members)
    return Verdict(True, entries) if found[0].excludes else Verdict(False)


def _disagreeing(found: Sequence[settings.Setting]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    excluded = tuple(one.name for one in found if one.excludes)
    kept = tuple(one.name for one in found if not one.excludes)
    return (excluded, kept) if excluded and kept else None


def _leaves(names: tuple[str, ...]) -> str:
    return ", ".join(name.rpartition(".")[2] for name in names)


def _touching(question: Question) -> tuple[Entry, ...]:
    names = [question.name, *(question.shards() or ()), *question.families()]
    return tuple(entry for name in names for entry in question.rules.fitting(name))


def _touching_shards(question: Question) -> tuple[Entry, ...]:
    families = question.record.families_of(question.name)
    leaf = question.name.rpartition(".")[2]
    names = [question.name.replace(leaf, shard) for shard in families.get(leaf, ())]
    return (*_touching(question), *(entry for name in names for entry in question.rules.fitting(name)))


def _touching_experts(question: Question) -> tuple[Entry, ...]:
    return settings.expert_zero(question).entries if question.kind == "moe" else ()


STEPS: dict[str, Step] = {
    "rule": _rule,
    "rule-if-exact": _rule_if_exact,
    "rule-family": _rule_family,
    "rule-in-own-families": lambda question: _rule_by_families(question, question.record.families_of(question.name)),
    "rule-in-families": lambda question: _rule_by_families(question, question.packed),
    "expert-zero": _expert_zero,
    "outside-included": _outside_included,
    "outside-included-by-shards": _outside_included_by_shards,
    "half-included": _half_included,
    "settings": lambda question: _settings(question, explicit=False),
    "settings-if-explicit": lambda question: _settings(question, explicit=True),
}
"""The verdict of each step."""

TOUCHING: dict[str, Callable[[Question], tuple[Entry, ...]]] = {
    **dict.fromkeys(STEPS, lambda question: ()),
    **dict.fromkeys(("rule", "rule-in-families"), _touching),
    "rule-family": _touching,
    "rule-in-own-families": _touching_shards,
    "expert-zero": _touching_experts,
    "settings": settings.touching,
    "settings-if-explicit": settings.touching,
}
"""Every entry that each step could use."""
