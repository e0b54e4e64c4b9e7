"""The names that stored modules go by."""

from __future__ import annotations

from difflib import SequenceMatcher

from qpolicy.lint.view import View
from qpolicy.paths import Pattern, Suggestion, suggest

_NEAR = 0.7


def known_names(view: View) -> tuple[str, ...]:
    """Return every name by which a pattern could catch a stored module: own, fused and container names."""
    stored = view.matchers[0].binding.world.stored
    return tuple(dict.fromkeys(alias for name in stored.modules for alias in stored.aliases(name)))


def count_modules(view: View, pattern: Pattern) -> int:
    """Return how many stored modules a pattern selects, by their own, fused or container names."""
    stored = view.matchers[0].binding.world.stored
    return sum(any(pattern.matches(alias) for alias in stored.aliases(name)) for name in stored.modules)


def nearest(pattern: Pattern, names: tuple[str, ...]) -> Suggestion | None:
    """Return the likeliest correction of a pattern that matches none of these names, if there is one."""
    hints = suggest(pattern, names)
    return next((hint for hint in hints if any(map(hint.replaced.matches, names))), None)


def looks_misspelt(hint: Suggestion | None) -> bool:
    """Whether what is written is so near to a real segment that it was probably meant."""
    return hint is not None and SequenceMatcher(None, hint.written, hint.instead).ratio() >= _NEAR


def told(view: View, hint: Suggestion) -> str:
    """Say what a correction changes and how many modules it would then match."""
    count = count_modules(view, hint.replaced)
    modules = "1 module" if count == 1 else f"{count} modules"
    return f"the nearest real segment to '{hint.written}' is '{hint.instead}', which would match {modules}"
