"""What a policy does, found out by trying everything: every short name under every consistent set of facts.

Nothing of the analysis is used but the table of heads: patterns are matched by the slow reference, and a condition's
truth is computed for all situations at once, as the two sets of those in which it is true and in which it is false.
Sets are integers, a bit for each situation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

from qpolicy.analysis.heads import head_patterns
from qpolicy.bind import Policy
from qpolicy.bind.resolve import Sets, parse_pattern
from qpolicy.checkpoint import FUSED, container_of, fused_names
from qpolicy.lang import tree
from qpolicy.lang.tree import Document, Drop, Let, Otherwise, Rule, Selector
from qpolicy.lang.walk import condition_of, facts_of, selectors_of
from qpolicy.paths.reference import matches

matches = cache(matches)
Facts = Mapping[str, Any]
Both = tuple[int, int]
"""In which situations something is true, and in which it is false."""


@dataclass(frozen=True)
class Module:
    """A module's names."""

    name: str
    also: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        container = container_of(self.name)
        return (self.name, *self.also, *([container] if container else []))


def modules(segments: Sequence[str], longest: int) -> list[Module]:
    """Every module with a name of up to so many of these segments, once for each way in which it may be fused."""
    names = [".".join(one) for size in range(1, longest + 1) for one in product(segments, repeat=size)]
    return [Module(name, also) for name in names for also in fusings(name)]


def fusings(name: str) -> list[tuple[str, ...]]:
    fused = fused_names(name, FUSED)
    return [(), *((one,) for one in fused), *([fused] if len(fused) > 1 else [])]


class World:
    """All situations of some policies, as far as their facts tell them apart."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        asked = {fact for one in policies for s in one.document.statements for fact in facts_of(condition_of(s))}
        late = any("mtp" in one.source.text for one in policies)
        self.situations = list(_situations(asked, any(has_drop(one) for one in policies), late))
        self.all = (1 << len(self.situations)) - 1
        self._of: dict[str, dict[Any, int]] = {}

    def under(self, assumed: Iterable[tuple[str, Any]]) -> int:
        """The situations in which all of these things have these values."""
        found = self.all
        for key, value in assumed:
            found &= self.where(key, value)
        return found

    def where(self, key: str, value: Any) -> int:
        """The situations in which something has a value."""
        if key not in self._of:
            found: dict[Any, int] = {}
            for place, facts in enumerate(self.situations):
                found[facts[key]] = found.get(facts[key], 0) | 1 << place
            self._of[key] = found
        return self._of[key].get(value, 0)


def has_drop(policy: Policy) -> bool:
    return any(isinstance(one, Drop) for one in policy.document.statements)


def _situations(asked: set[tree.Fact], heads: bool, late: bool) -> Iterator[Facts]:
    """Every consistent assignment of the facts that these policies ask for, spelled out case by case."""
    tensors = {t for f in asked if isinstance(f, tree.Has) for t in f.tensors}
    tensors |= {f.tensor for f in asked if isinstance(f, tree.DtypeIs)}
    dtypes = {
        t: sorted({d for f in asked if isinstance(f, tree.DtypeIs) and f.tensor == t for d in f.dtypes})
        for t in tensors
    }
    named = {
        field: {v for f in asked if isinstance(f, tree.Is) and f.field == field for v in f.values}
        for field in ("kind", "engine", "method", "format", "arch")
    }
    abouts = {_key(f) for f in asked if isinstance(f, tree.About)}
    flags = {f.name for f in asked if isinstance(f, tree.Flag)} | ({"quantized_on_disk", "draft"} if heads else set())
    drafts = (True, False) if flags & {"draft", "target"} or heads else (False,)
    kinds = ("linear", "moe", "lm_head", "embedding", "other")
    for draft, kind, engine in product(drafts, kinds, (*sorted(named["engine"]), "another")):
        base = {"draft": draft, "kind": kind, "engine": engine}
        for source in ("no checkpoint", "no stored modules", "stored"):
            known = source != "no checkpoint"
            for numbered, method, form, arches, listing in product(
                (True, False) if known and late else (False,),
                (*sorted(named["method"]), "another") if known and named["method"] else (None,),
                (*sorted(named["format"]), "another") if known and named["format"] else (None,),
                _subsets(named["arch"]) if known else (None,),
                (True, False) if known and ("excluded" in flags or abouts) else (False,),
            ):
                outer = {**base, "numbered": numbered, "method": method, "format": form, "arches": arches}
                outer |= {f"arch == {one}": None if arches is None else one in arches for one in named["arch"]}
                outer |= {"checkpoint": source, "listing": listing}
                for excluded in (True, False) if listing and "excluded" in flags else (None,):
                    for about in product(*(_about(source == "stored", listing) for _ in abouts)):
                        whole = {**outer, "excluded": excluded}
                        for key, truths in zip(sorted(abouts), about, strict=True):
                            whole |= {
                                f"exists({key})": truths[0],
                                f"excluded({key})": truths[1],
                                f"on disk {key}": truths[2:],
                            }
                        for module in _tensors(source == "stored", tensors, dtypes, "quantized_on_disk" in flags):
                            kept = heads and draft and module["quantized_on_disk"] is True
                            for head in (True, False) if kept else (False,):
                                yield {**whole, **module, "kept head": head}


def _about(stored: bool, listing: bool) -> Iterator[tuple[bool | None, ...]]:
    """Truths of exists, excluded, quantized_on_disk and unquantized_on_disk of one pattern."""
    if not stored:
        yield (None, None, None, None)
        return
    yield (False, None, None, None)
    for excluded in (True, False) if listing else (None,):
        # One module or two, each quantized, not quantized, or nobody knows.
        for disk in {frozenset(pair) for pair in product((True, False, None), repeat=2)}:
            quantized = False if False in disk else None if None in disk else True
            plain = False if True in disk else None if None in disk else True
            yield (True, excluded, quantized, plain)


def _tensors(stored: bool, names: set[str], dtypes: Mapping[str, list[str]], quantized: bool) -> Iterator[Facts]:
    nothing = {f"tensor {name}": None for name in names}
    yield {**nothing, "quantized_on_disk": None, "tensors": False}
    if not stored:
        return
    there = {t: (*dtypes[t], "another", "unknown dtype") if dtypes[t] else ("present",) for t in names}
    for values in product(*((*there[one], "absent") for one in sorted(names))):
        for packed in (True, False, None) if quantized else (None,):
            table = {f"tensor {name}": value for name, value in zip(sorted(names), values, strict=True)}
            yield {**table, "quantized_on_disk": packed, "tensors": True}


def _subsets(values: set[str]) -> list[frozenset[str]]:
    chosen = product((True, False), repeat=len(values))
    return [frozenset(v for v, yes in zip(sorted(values), one, strict=True) if yes) for one in chosen]


def _key(fact: tree.About) -> str:
    selector = fact.selector
    return selector.text if isinstance(selector, tree.PatternRef) else f"@{selector.name}"


class Brute:
    """One policy in a world."""

    def __init__(self, policy: Policy, world: World) -> None:
        self.world = world
        self.statements = [s for s in policy.document.statements if isinstance(s, Drop | Rule | Otherwise)]
        self._expand = _expander(policy.document)
        self._facts: dict[tree.Fact, Both] = {}
        self._selectors = tuple(dict.fromkeys(one for statement in self.statements for one in selectors_of(statement)))
        self._applied: dict[tuple[object, ...], list[int]] = {}

    def applies(self, module: Module) -> list[int]:
        """For each deciding statement, the situations in which it applies to a module."""
        alike = (_is_head(module.name), *(self._catches(selector, module) for selector in self._selectors))
        if alike not in self._applied:
            self._applied[alike] = [self._applies(one, module) for one in self.statements]
        return self._applied[alike]

    def decides(self, module: Module) -> list[int]:
        """For each deciding statement, the situations in which it decides a module."""
        return self.first(self.applies(module))

    def first(self, applies: Sequence[int]) -> list[int]:
        """For each deciding statement, the situations in which it is the first of those that apply."""
        left, found = self.world.all, []
        for here in applies:
            found.append(here & left)
            left &= ~here
        return found

    def _applies(self, statement: Drop | Rule | Otherwise, module: Module) -> int:
        world = self.world
        match statement:
            case Otherwise():
                return world.where("kind", "linear") | world.where("kind", "moe") | world.where("kind", "lm_head")
            case Drop(scope, condition):
                kept = world.where("kept head", True) if _is_head(module.name) else 0
                return self._selected([scope], module) & self._truth(condition, module)[0] & ~kept
        here = self._selected(statement.selectors, module) if statement.selectors else world.all
        return here if statement.condition is None else here & self._truth(statement.condition, module)[0]

    def _selected(self, selectors: Iterable[Selector], module: Module) -> int:
        caught = [self._catches(selector, module) for selector in selectors]
        if any(spelled for spelled, _ in caught):
            return self.world.all
        return self.world.where("numbered", True) if any(late for _, late in caught) else 0

    def _catches(self, selector: Selector, module: Module) -> tuple[bool, bool]:
        """Whether a selector catches a module by what is spelled, and by a layer's number that may be the draft's."""
        spelled, late = self._expand(selector)
        return _some_match(spelled, module.names), _some_match(late, module.names)

    def _truth(self, condition: tree.Condition, module: Module) -> Both:
        match condition:
            case tree.And(parts):
                truths = [self._truth(part, module) for part in parts]
                return _all(one for one, _ in truths) & self.world.all, _any(other for _, other in truths)
            case tree.Or(parts):
                truths = [self._truth(part, module) for part in parts]
                return _any(one for one, _ in truths), _all(other for _, other in truths) & self.world.all
            case tree.Not(part):
                true, false = self._truth(part, module)
                return false, true
            case tree.PathIn(selectors):
                here = self._selected(selectors, module)
                return here, self.world.all & ~here
        if condition not in self._facts:
            self._facts[condition] = self._fact(condition)
        return self._facts[condition]

    def _fact(self, fact: tree.Fact) -> Both:
        true = false = 0
        for place, facts in enumerate(self.world.situations):
            truth = _ask(fact, facts)
            true |= (truth is True) << place
            false |= (truth is False) << place
        return true, false


def _ask(fact: tree.Fact, facts: Facts) -> bool | None:
    match fact:
        case tree.Flag(name):
            return facts["draft"] is (name == "draft") if name in ("draft", "target") else facts[name]
        case tree.Has() | tree.DtypeIs():
            return _ask_tensors(fact, facts)
        case tree.Is(field, values):
            return _ask_field(field, values, facts)
        case tree.About(name, _) if name in ("exists", "excluded"):
            return facts[f"{name}({_key(fact)})"]
        case tree.About(name, _):
            return facts[f"on disk {_key(fact)}"][name == "unquantized_on_disk"]
    raise AssertionError(fact)


def _ask_tensors(fact: tree.Has | tree.DtypeIs, facts: Facts) -> bool | None:
    if isinstance(fact, tree.Has):
        values = [facts[f"tensor {one}"] for one in fact.tensors]
        return None if None in values else "absent" not in values
    value = facts[f"tensor {fact.tensor}"]
    return None if value in (None, "unknown dtype") else value in fact.dtypes


def _ask_field(field: str, values: Sequence[str], facts: Facts) -> bool | None:
    if field == "arch":
        return None if facts["arches"] is None else bool(facts["arches"] & set(values))
    return None if facts[field] is None else facts[field] in values


def _some_match(patterns: Sequence[str], names: Sequence[str]) -> bool:
    for pattern in patterns:
        for name in names:
            if matches(pattern, name):
                return True
    return False


@cache
def _is_head(name: str) -> bool:
    return any(matches(str(pattern), name) for pattern in head_patterns())


def _any(sets: Iterable[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


def _all(sets: Iterable[int]) -> int:
    found = -1
    for one in sets:
        found &= one
    return found


def _expander(document: Document) -> Any:
    lets = [one for one in document.statements if isinstance(one, Let)]
    plain = ["mtp.**", "model.mtp.**", "language_model.mtp.**", "mtp_layers.**", "model.mtp_layers.**"]
    plain.append("model.mtp_{block,emb_norm,hidden_norm,linear_proj}.**")
    stems = ("model.layers", "model.language_model.layers", "language_model.model.layers")
    late = [f"{stem}.{{0..}}.**" for stem in stems]
    small, large = (Sets(lets, [parse_pattern(one) for one in texts]) for texts in (plain, plain + late))

    known: dict[Selector, tuple[list[str], list[str]]] = {}

    def expand(selector: Selector) -> tuple[list[str], list[str]]:
        if selector not in known:
            spelled = [str(one) for one in small.expand(selector)]
            known[selector] = spelled, [str(one) for one in large.expand(selector) if str(one) not in spelled]
        return known[selector]

    return expand
