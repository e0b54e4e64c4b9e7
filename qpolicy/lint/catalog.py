"""Every code that a finding can have, by its code and by its name.

Codes and names are read from the names of the modules in :mod:`qpolicy.lint.rules`, so that looking one up imports none
of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from qpolicy.lang.codes import CODES as SYNTAX
from qpolicy.lint import rules
from qpolicy.lint.check import Code
from qpolicy.lint.rehearsal import CODES as REHEARSED
from qpolicy.lint.syntax import syntax_code

_MODULES = {
    module.name[:5].upper(): module.name for module in iter_modules(rules.__path__) if module.name.startswith("qp")
}

SYNTAX_CODES = frozenset(code.code for code in SYNTAX)
"""The codes of a text that is no policy; they can be neither suppressed nor left out."""

NAMES: Mapping[str, str] = MappingProxyType(
    dict(
        sorted(
            {
                **{code.code: code.name for code in SYNTAX},
                **{code: module[6:].replace("_", "-") for code, module in _MODULES.items()},
            }.items()
        )
    )
)
"""Each code with its name, in order."""


def code_of(text: str) -> str | None:
    """Return the code that a text names, by itself or by its name; None when there is no such code."""
    if text in NAMES or text in REHEARSED:
        return text
    named = {**NAMES, **{code.code: code.name for code in REHEARSED.values()}}
    return next((code for code, name in named.items() if name == text), None)


@cache
def described(code: str) -> Code:
    """Return a code with its page.

    Raises:
        KeyError: There is no such code.
    """
    if code in SYNTAX_CODES:
        return syntax_code(code)
    if code in REHEARSED:
        return REHEARSED[code]
    found = import_module(f"{rules.__name__}.{_MODULES[code]}").CODE
    assert isinstance(found, Code)
    return found


def every_code() -> tuple[Code, ...]:
    """Return all codes with their pages, in order."""
    return tuple(described(code) for code in NAMES)
