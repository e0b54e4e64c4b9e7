"""What can go wrong when a policy is exported."""

from __future__ import annotations

from collections.abc import Iterable

from qpolicy.errors import QPolicyError

_SHOWN = 8


class CannotSayError(QPolicyError):
    """A native list cannot say what the policy decides; the message names the modules and why."""

    exit_code = 1


def listed(names: Iterable[str]) -> str:
    """Return some names, the first of very many."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
