"""The meaning of a policy once more, slowly and without any of the matcher's machinery.

No index and no caches: every statement is tried in order on a member, with the reference pattern matcher. The tests
hold the fast matcher against it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from qpolicy.bind.resolve import Sets
from qpolicy.bind.unasked import built_unasked
from qpolicy.bind.world import World
from qpolicy.checkpoint import StoredModule, container_of, fused_names
from qpolicy.lang.tree import (
    About,
    And,
    Condition,
    Document,
    Drop,
    DtypeIs,
    Fact,
    Flag,
    Has,
    Is,
    Not,
    Or,
    Otherwise,
    PathIn,
    Rule,
    Selector,
)
from qpolicy.paths.reference import matches

# Truth as a number: 1 true, 0 false, 0.5 unknown. Then "and" is the least, "or" the greatest, "not" the complement.
Number: TypeAlias = float


def rule_for(document: Document, world: World, member: str, kind: str) -> Drop | Rule | Otherwise | None:
    """Return the statement that decides a stored module; None means that the checkpoint's list does."""
    names = _names(world, member)
    for statement in document.statements:
        if isinstance(statement, Drop):
            if _whole(statement.condition, document, world) == 1 and _caught(statement.scope, names, document, world):
                return statement
        elif isinstance(statement, Rule):
            selected = any(_caught(selector, names, document, world) for selector in statement.selectors)
            if not statement.selectors or selected:
                condition = statement.condition
                if condition is None or _truth(condition, document, world, member, kind) == 1:
                    return statement
        elif isinstance(statement, Otherwise) and kind in ("linear", "moe", "lm_head"):
            return statement
    return None


def _names(world: World, module: str) -> set[str]:
    return {module, *fused_names(module, world.packed)} | ({container_of(module) or module})


def _caught(selector: Selector, names: Iterable[str], document: Document, world: World) -> bool:
    patterns = Sets.of(document, world.checkpoint).expand(selector)
    return any(matches(str(pattern), name) for pattern in patterns for name in names)


def _whole(condition: Condition, document: Document, world: World) -> Number:
    return _truth(condition, document, world, "", "")


def _truth(condition: Condition, document: Document, world: World, member: str, kind: str) -> Number:
    match condition:
        case And(parts):
            return min(_truth(part, document, world, member, kind) for part in parts)
        case Or(parts):
            return max(_truth(part, document, world, member, kind) for part in parts)
        case Not(part):
            return 1 - _truth(part, document, world, member, kind)
        case About():
            return _about(condition, document, world)
        case PathIn(selectors):
            return any(_caught(selector, _names(world, member), document, world) for selector in selectors)
    return _fact(condition, world, member, kind)


def _fact(fact: Fact, world: World, member: str, kind: str) -> Number:
    match fact:
        case Flag("draft"):
            return world.draft
        case Flag("target"):
            return not world.draft
        case Flag("excluded"):
            return _excluded(world, member, kind)
        case Is(name, values):
            return any(value in values for value in _values(name, world, kind))
    return _of_tensors(fact, world, member)


def _values(name: str, world: World, kind: str) -> list[str]:
    assert world.checkpoint is not None
    if name == "arch":
        return list(world.checkpoint.architectures)
    config = world.config
    known = {"kind": kind, "engine": world.engine}
    if config is not None:
        known |= {"method": config.method, "format": config.format or ""}
    return [known[name]] if name in known else []


def _of_tensors(fact: Fact, world: World, member: str) -> Number:
    assert world.checkpoint is not None
    module = world.checkpoint.modules.get(member)
    if module is None:
        return 0.5
    match fact:
        case Has(tensors):
            return all(tensor in module.tensors for tensor in tensors)
        case DtypeIs(tensor, dtypes):
            dtype = module.tensors[tensor].dtype if tensor in module.tensors else "no such tensor"
            return 0.5 if dtype is None else dtype in dtypes
    return _number(module.quantized)


def _about(fact: About, document: Document, world: World) -> Number:
    assert world.checkpoint is not None
    selected = [
        module
        for module in world.checkpoint.modules.values()
        if module.kind in ("linear", "moe", "lm_head")
        and _caught(fact.selector, _names(world, module.name), document, world)
        and not built_unasked(world, module.name)
    ]
    if not world.checkpoint.modules:
        return 0.5
    if fact.name == "exists":
        return bool(selected)
    return min((_of_selected(fact.name, module, world) for module in selected), default=0.5)


def _of_selected(name: str, module: StoredModule, world: World) -> Number:
    if name == "excluded":
        return _excluded(world, module.name, module.kind or "linear")
    quantized = _number(module.quantized)
    return quantized if name == "quantized_on_disk" else 1 - quantized


def _excluded(world: World, name: str, kind: str) -> Number:
    if world.producer is None:
        return 0
    return _number(world.producer.ask(name, kind).excluded) if world.producer.supported else 0.5


def _number(truth: bool | None) -> Number:
    return 0.5 if truth is None else float(truth)
