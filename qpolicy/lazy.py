"""Lets a package name what its modules hold without importing them before they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazily(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return a package's ``__getattr__``.

    Args:
        package: The package's name.
        homes: Each module with the names that the package takes from it. None of the names may be a module of the
            package, because an imported module hides it.
    """
    found = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> object:
        if name not in found:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(found[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
