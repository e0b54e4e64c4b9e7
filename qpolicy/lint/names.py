"""The names that stored modules go by."""

from __future__ import annotations

from qpolicy.lint.view import View


def known_names(view: View) -> tuple[str, ...]:
    """Return every name by which a pattern could catch a stored module: own, fused and container names."""
    stored = view.matchers[0].binding.world.stored
    return tuple(dict.fromkeys(alias for name in stored.modules for alias in stored.aliases(name)))
