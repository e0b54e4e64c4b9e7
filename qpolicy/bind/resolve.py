"""Selectors become patterns: sets are looked up, ``@NAME.rest`` is continued."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from qpolicy.checkpoint.draft import draft_patterns
from qpolicy.lang.tree import Document, Let, PatternRef, Selector
from qpolicy.paths import Pattern

if TYPE_CHECKING:
    from qpolicy.checkpoint import Checkpoint

parse_pattern = cache(Pattern.parse)


class Sets:
    """The named sets of a policy, for one checkpoint.

    Args:
        lets: The policy's ``let`` statements; their sets are known and without cycles.
        mtp: The patterns of ``@mtp``.
    """

    def __init__(self, lets: Iterable[Let], mtp: Sequence[Pattern]) -> None:
        self._lets = {let.name: let for let in lets}
        self._known: dict[str, tuple[Pattern, ...]] = {"mtp": tuple(mtp)}

    @classmethod
    def of(cls, document: Document, checkpoint: Checkpoint | None) -> Sets:
        """Return the sets of a policy as they stand for a checkpoint, or for none."""
        lets = (statement for statement in document.statements if isinstance(statement, Let))
        configs = None if checkpoint is None else checkpoint.configs
        texts = draft_patterns(configs.num_hidden_layers, configs.draft_layers) if configs else draft_patterns(None, 0)
        return cls(lets, [parse_pattern(text) for text in texts])

    def named(self, name: str) -> tuple[Pattern, ...]:
        """Return a set's patterns."""
        if name not in self._known:
            self._known[name] = tuple(
                pattern for selector in self._lets[name].selectors for pattern in self.expand(selector)
            )
        return self._known[name]

    def expand(self, selector: Selector) -> tuple[Pattern, ...]:
        """Return what a selector comes to.

        Raises:
            PatternError: A pattern is malformed, or a continued set has a pattern that does not end in ``.**``.
        """
        if isinstance(selector, PatternRef):
            return (parse_pattern(selector.text),)
        patterns = self.named(selector.name)
        if selector.rest is None:
            return patterns
        rest = parse_pattern(selector.rest)
        return tuple(pattern.then(rest) for pattern in patterns)
