"""Rewrites the strings of a list before an engine reads them, as SGLang's models ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Rewrites = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Mapper:
    r"""The rewriting that SGLang 0.5.23 calls ``WeightsMapper`` (sglang/srt/models/utils.py).

    Of each kind the longest key that fits is applied, once: first those found anywhere, then beginnings, then endings.
    A key that maps to None removes the string. Globs and regular expressions are rewritten as the plain strings they
    are, so one that spells its dots ``\.`` is usually missed.

    Attributes:
        substr: Rewrites for text found anywhere.
        prefix: Rewrites for beginnings; no dot is required behind them.
        suffix: Rewrites for endings.
    """

    substr: Rewrites = field(default_factory=dict)
    prefix: Rewrites = field(default_factory=dict)
    suffix: Rewrites = field(default_factory=dict)

    def rename(self, text: str) -> str | None:
        """Return the rewritten string, or None when it is removed."""
        renamed: str | None = text
        for rewrites, fits, apply in (
            (self.substr, str.__contains__, _replace_first),
            (self.prefix, str.startswith, _replace_first),
            (self.suffix, str.endswith, _replace_last),
        ):
            if renamed is not None:
                renamed = _longest(renamed, rewrites, fits, apply)
        return renamed


def _longest(
    text: str, rewrites: Rewrites, fits: Callable[[str, str], bool], apply: Callable[[str, str, str], str]
) -> str | None:
    for old in sorted(rewrites, key=len, reverse=True):
        if fits(text, old):
            new = rewrites[old]
            return None if new is None else apply(text, old, new)
    return text


def _replace_first(text: str, old: str, new: str) -> str:
    return text.replace(old, new, 1)


def _replace_last(text: str, old: str, new: str) -> str:
    return new.join(text.rsplit(old, 1))
