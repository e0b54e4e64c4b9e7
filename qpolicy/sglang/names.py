"""From the name that SGLang gives a layer to one that the policy's matcher understands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qpolicy.bind import Matcher
from qpolicy.errors import BindError
from qpolicy.sglang.building import Build


def stored_spelling(build: Build, matcher: Matcher, asked: str) -> str:
    """Return a name for a layer that reaches its stored tensors; the name itself where none does.

    The matcher translates a draft's names. A target's name stands as it is, or else it is one that the model class's
    mapper makes of a stored name.

    Args:
        build: The model under construction.
        matcher: Its matcher.
        asked: The name that SGLang gives the layer.
    """
    if build.mapper is None or _reaches(matcher, asked):
        return asked
    return next((name for name in _before(build, asked) if _reaches(matcher, name)), asked)


def _reaches(matcher: Matcher, name: str) -> bool:
    try:
        return bool(matcher.members(name))
    except BindError:
        return True  # the matcher's own error says more than another spelling would


def _before(build: Build, asked: str) -> Iterable[str]:
    """The names that the mapper may have made this one of, by undoing one prefix or substring."""
    for old, new in _rewrites(build.mapper):
        if new and new in asked:
            yield asked.replace(new, old, 1)
        elif not new:
            yield old + asked


def _rewrites(mapper: Any) -> tuple[tuple[str, str], ...]:
    tables = (getattr(mapper, "orig_to_new_prefix", {}), getattr(mapper, "orig_to_new_substr", {}))
    return tuple((old, new) for table in tables for old, new in table.items() if new is not None)
