"""What must hold between the named sets of a policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Final

from qpolicy.lang.issue import Complaint
from qpolicy.lang.script import BUILT_IN_SETS, Script
from qpolicy.lang.tree import Let, Selector, SetRef
from qpolicy.lang.walk import selectors_of
from qpolicy.lang.words import did_you_mean

MAX_SET_DEPTH: Final = 100
"""How many sets may lie between a set and the patterns that it comes to."""

MAX_PATTERNS: Final = 1_000_000
"""How many patterns the selectors of a policy may come to, once every set is written out."""


def sets_named_once(script: Script) -> Iterator[Complaint]:
    """No set is named twice, and none takes the name of a built-in one."""
    seen: dict[str, Let] = {}
    for let in script.lets():
        if let.name in BUILT_IN_SETS:
            message = f"the set `@{let.name}` is built in and cannot be named again"
            yield Complaint("QP010", message, let.name_span, hint="choose another name")
        elif let.name in seen:
            message = f"the set `{let.name}` is named twice"
            hint = f"the first is at line {seen[let.name].span.line}; choose another name or join the two"
            yield Complaint("QP010", message, let.name_span, hint=hint)
        seen.setdefault(let.name, let)


def sets_known(script: Script) -> Iterator[Complaint]:
    """Every ``@NAME`` is named by some ``let``; where it stands does not matter."""
    named = {let.name: None for let in script.lets()} | dict.fromkeys(BUILT_IN_SETS)
    for statement in script.statements:
        for selector in selectors_of(statement):
            if isinstance(selector, SetRef) and selector.name not in named and selector.name not in script.lost_sets:
                hint = did_you_mean(selector.name, named, "@") or f"name it first: `let {selector.name} = ...`"
                yield Complaint("QP011", f"there is no set `@{selector.name}`", selector.span, hint=hint)


def sets_acyclic(script: Script) -> Iterator[Complaint]:
    """No set uses itself, directly or through others."""
    lets = {let.name: let for let in script.lets()}
    try:
        TopologicalSorter(_uses(lets)).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        names = [f"`@{name}`" for name in cycle]
        way = " uses ".join(names if len(names) <= 6 else [*names[:3], "...", *names[-2:]])
        let = lets[cycle[0]]
        yield Complaint("QP012", f"a set uses itself: {way}", let.name_span, hint="list its patterns instead")


def sets_bounded(script: Script) -> Iterator[Complaint]:
    """Sets do not multiply beyond what can be written out: neither in depth nor in number of patterns."""
    lets = {let.name: let for let in script.lets()}
    try:
        order = list(TopologicalSorter(_uses(lets)).static_order())
    except CycleError:
        return
    depths: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for name in order:
        selectors = lets[name].selectors
        depths[name] = 1 + max((depths.get(s.name, 0) for s in selectors if isinstance(s, SetRef)), default=0)
        sizes[name] = _size(selectors, sizes)
        if depths[name] > MAX_SET_DEPTH:
            message = f"sets use each other more than {MAX_SET_DEPTH} deep"
            yield Complaint("QP015", message, lets[name].name_span, hint="list their patterns instead")
            return
    yield from _written_out(script, sizes)


def _written_out(script: Script, sizes: Mapping[str, int]) -> Iterator[Complaint]:
    total = 0
    for statement in script.statements:
        total += _size(selectors_of(statement), sizes)
        if total > MAX_PATTERNS:
            message = f"with every set written out, the policy has more than {MAX_PATTERNS:,} patterns"
            yield Complaint("QP015", message, statement.span, hint="name many modules by one pattern")
            return


def _size(selectors: Iterable[Selector], sizes: Mapping[str, int]) -> int:
    """Return how many patterns these come to, or a number over the limit."""
    size = sum(sizes.get(s.name, 1) if isinstance(s, SetRef) else 1 for s in selectors)
    return min(size, MAX_PATTERNS + 1)


def _uses(lets: Mapping[str, Let]) -> dict[str, list[str]]:
    """Return the sets that each set uses."""
    return {
        name: [s.name for s in let.selectors if isinstance(s, SetRef) and s.name in lets] for name, let in lets.items()
    }
