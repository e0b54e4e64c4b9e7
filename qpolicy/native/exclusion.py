"""Decides whether a list excludes a name: executes the ``steps`` of a reading.

Each verb that a reading may use as a step is one function here; it returns a verdict, or None to let the next
step decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qpolicy.native import rule_steps
from qpolicy.native.config import Entry
from qpolicy.native.index import Hits
from qpolicy.native.question import Families, Question, Verdict

__all__ = ["Families", "Question", "Verdict", "exclusion", "touching"]


def exclusion(question: Question) -> Verdict:
    """Decide whether the list excludes the name, in the order of the reading's steps.

    Behind an ``or`` the search goes on as long as nothing excludes the name and nothing is refused.
    """
    found, decided = Verdict(False), False
    for step in question.steps:
        if step == OR:
            decided = found.excluded or found.error is not None
        elif not decided and (verdict := _STEPS[step](question)) is not None:
            found, decided = replace(verdict, step=step), True
    return found


def touching(question: Question) -> tuple[Entry, ...]:
    """Return every entry that the reading could use for this name or one of its shards, whichever decides."""
    found = [entry for step in question.steps if step != OR for entry in _TOUCHING[step](question)]
    return tuple(dict.fromkeys(found))


def _verdict(hits: Hits) -> Verdict | None:
    if hits.error is not None:
        return Verdict(False, hits.entries, hits.error)
    return Verdict(True, hits.entries) if hits else None


def _listed(entries: tuple[Entry, ...]) -> Verdict | None:
    return Verdict(True, entries) if entries else None


def _own(question: Question) -> Verdict | None:
    return _verdict(question.index.hits(question.name))


def _own_if_listed(question: Question) -> Verdict | None:
    return _own(question) if question.name in question.index.texts else None


def _shards(question: Question) -> Verdict | None:
    shards = question.shards()
    if shards is None:
        return None
    hits = {shard: question.index.hits(shard) for shard in shards}
    entries = tuple(dict.fromkeys(entry for one in hits.values() for entry in one.entries))
    error = next((one.error for one in hits.values() if one.error), None)
    excluded = tuple(shard for shard, one in hits.items() if one)
    kept = tuple(shard for shard, one in hits.items() if not one)
    if error is None and excluded and kept:
        error = f"the list excludes {_leaves(excluded)} of {question.name} but not {_leaves(kept)}"
        return Verdict(False, entries, error, (excluded, kept))
    if not shards:
        error = f"the fused family of {question.name} has no members"
    return Verdict(bool(excluded) and error is None, entries, error)


def _family(question: Question) -> Verdict | None:
    for name in question.families():
        verdict = _verdict(question.index.hits(name))
        if verdict is not None:
            return verdict
    return None


def _any_shard(question: Question) -> Verdict | None:
    hits = [question.index.hits(shard) for shard in question.shards() or ()]
    error = next((one.error for one in hits if one.error), None)
    entries = tuple(dict.fromkeys(entry for one in hits for entry in one.entries))
    return Verdict(error is None, entries, error) if entries or error else None


def _expert_in_entry_alone(question: Question) -> Verdict | None:
    if not question.about_experts():
        return None
    entries = question.containing()
    return Verdict(bool(entries), entries)


def _gate_and_up(question: Question) -> Verdict | None:
    if "gate_up_proj" not in question.name:
        return None
    halves = [question.name.replace("gate_up_proj", half) for half in ("gate_proj", "up_proj")]
    both = tuple(item.entry for item in question.index.items if item.text in halves)
    return Verdict(True, both) if all(half in question.index.texts for half in halves) else Verdict(False)


def _leaves(names: tuple[str, ...]) -> str:
    return ", ".join(name.rpartition(".")[2] for name in names)


OR = "or"
"""Stands between steps, the later of which are asked too when the earlier exclude nothing."""

_STEPS: dict[str, Callable[[Question], Verdict | None]] = {
    **rule_steps.STEPS,
    "own": _own,
    "own-if-listed": _own_if_listed,
    "shards": _shards,
    "any-shard": _any_shard,
    "family": _family,
    "own-or-class": lambda question: _verdict(question.own_or_class()),
    "own-by-pattern": lambda question: _verdict(question.by_pattern()),
    "container": lambda question: _verdict(question.index.hits(question.container())),
    "gate-and-up": _gate_and_up,
    "expert-in-entry": lambda question: _listed(question.containing()),
    "expert-in-entry-alone": _expert_in_entry_alone,
    "entry-below-experts": lambda question: _listed(question.below_experts()),
    "entry-at-or-below": lambda question: _listed(question.at_or_below()),
}


def _touching_gate_and_up(question: Question) -> tuple[Entry, ...]:
    verdict = _gate_and_up(question)
    return verdict.entries if verdict else ()


_TOUCHING: dict[str, Callable[[Question], tuple[Entry, ...]]] = {
    **rule_steps.TOUCHING,
    "own": lambda question: () if _answered_before(question) else question.index.hits(question.name).entries,
    "own-if-listed": lambda question: (_own_if_listed(question) or Verdict(False)).entries,
    "shards": lambda question: tuple(
        entry for shard in question.shards() or () for entry in question.index.hits(shard).entries
    ),
    "any-shard": lambda question: (_any_shard(question) or Verdict(False)).entries,
    "family": lambda question: tuple(
        entry for name in question.families() for entry in question.index.hits(name).entries
    ),
    "own-or-class": lambda question: question.own_or_class().entries,
    "own-by-pattern": lambda question: question.by_pattern().entries,
    "container": lambda question: question.index.hits(question.container()).entries,
    "gate-and-up": _touching_gate_and_up,
    "expert-in-entry": Question.containing,
    "expert-in-entry-alone": Question.containing,
    "entry-below-experts": Question.below_experts,
    "entry-at-or-below": Question.at_or_below,
}


def _answered_before(question: Question) -> bool:
    """Tell whether an earlier step answers, for the shards or as experts, so that the name itself is never compared."""
    steps = question.steps
    before = steps[: steps.index("own")]
    by_shards = "shards" in before and question.shards() is not None
    return by_shards or ("expert-in-entry-alone" in before and question.about_experts())
