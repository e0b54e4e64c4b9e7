"""Sets that nothing uses."""

from __future__ import annotations

from qpolicy.lang.tree import Document, Let, SetRef, Statement
from qpolicy.lang.walk import selectors_of


def unused_sets(document: Document) -> tuple[Let, ...]:
    """Return every ``let`` whose set no rule, drop or expectation uses, directly or through sets that are used."""
    lets = {statement.name: statement for statement in document.statements if isinstance(statement, Let)}
    waiting = [name for one in document.statements if not isinstance(one, Let) for name in _used(one)]
    used: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in lets and name not in used:
            used.add(name)
            waiting.extend(_used(lets[name]))
    return tuple(let for name, let in lets.items() if name not in used)


def _used(statement: Statement) -> list[str]:
    return [selector.name for selector in selectors_of(statement) if isinstance(selector, SetRef)]
