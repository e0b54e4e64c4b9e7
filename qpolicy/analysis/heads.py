"""The names under which a draft's head may be stored."""

from __future__ import annotations

import re
from functools import cache

from qpolicy.bind.names_table import DraftRow, draft_rows
from qpolicy.paths import Pattern

_ANY_NUMBER = re.compile(r"\{[^}]*\}")

HEADS = ("model.shared_head.head", "lm_head")
"""The names under which engines ask for a draft's head, as ``qpolicy/bind/drops.py`` has them."""


@cache
def head_patterns() -> tuple[Pattern, ...]:
    """Return patterns for the stored names of the heads that drafts ask for, for every known draft class."""
    texts = set(HEADS) | {text for row in draft_rows() for head in HEADS for text in _stored(row, head)}
    return tuple(Pattern.parse(text) if "." in text else Pattern.literal(text) for text in sorted(texts))


def _stored(row: DraftRow, head: str) -> list[str]:
    fitting = [(asks, stored) for asks, stored in row.names if head == asks or head.startswith(f"{asks}.")]
    asks, stored = max(fitting, key=lambda pair: len(pair[0]), default=(head, (head,)))
    return [_ANY_NUMBER.sub("{0..}", prefix + head[len(asks) :]).lstrip(".") for prefix in stored]
