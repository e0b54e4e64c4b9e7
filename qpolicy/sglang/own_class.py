"""SGLang's own class behind a wrapped config."""

from __future__ import annotations

import copy
from typing import Any

from qpolicy.sglang.session import Session

SESSION = "_qpolicy_session"
BASE = "_qpolicy_base"


def base_class(config: Any) -> Any:
    """Return SGLang's own class of a config."""
    return getattr(type(config), BASE, type(config))


def bare_copy(config: Any) -> Any:
    """Return a shallow copy that asks no policy."""
    bare = copy.copy(config)
    bare.__class__ = base_class(config)
    return bare


def session_of(config: Any) -> Session | None:
    """Return whom a config asks, or None."""
    return getattr(type(config), SESSION, None)
