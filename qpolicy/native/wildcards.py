"""The operators of engines that take half of an entry for a pattern and the other half for text.

SGLang 0.5.23 makes a regular expression of each ModelOpt entry by escaping its dots and widening its stars
(sglang/srt/layers/quantization/modelopt_quant.py: _compile_exclusion_pattern); whatever else the entry holds, such as
``?`` or ``[``, is then read as a regular expression as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qpolicy.native.operators import Expressions, Lookup, Numbered, itself
from qpolicy.native.regex import RegexError

_SPECIAL = frozenset(r"*?+[]{}()|^$\#&~-")
# What `re` says of patterns that the package `regex` takes what `re` refuses in these words.
_OTHER_SYNTAX = ("bad escape \\", "global flags", "unknown extension", "missing <", "bad character in group name")
_FLAGS = re.compile(r"(?<!\\)\(\?([aimsx]+)\)")
_AFTER_ANCHOR = re.compile(r"[\^$](?:[*+?]|\{\d)|\\[AbBzZ](?:[*+?]|\{\d)")


class OtherExpressions:
    """The operator `Expressions` for engines that compile with the package ``regex`` instead of ``re``.

    On what is published the two agree; a pattern that only ``regex`` understands is refused, not guessed at.

    Args:
        entries: The expressions.
        options: As for `Expressions`; ``passed_over`` is the number of characters before each.
    """

    def __init__(self, entries: Numbered, options: Mapping[str, Any]) -> None:
        cut = [(place, _flags_first(text[options.get("passed_over", 0) :])) for place, text in entries]
        self._expressions = Expressions(cut, options)
        self.broken = self._expressions.broken
        texts = dict(cut)
        for place, error in self.broken.items():
            if error.broken and _is_other_syntax(texts[place], error.reason):
                reason = "it is a regular expression of a kind that only the engine's own library knows"
                self.broken[place] = RegexError(reason, broken=False)

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        return self._expressions.fitting(name)


class Wildcards:
    """An operator for entries whose dots are plain, whose stars stand for any text, and whose rest is an expression.

    Args:
        entries: The entries.
        parts: Takes a name to the texts of which one must fit an entry as a whole.
    """

    def __init__(self, entries: Numbered, parts: Callable[[str], Iterable[str]]) -> None:
        self._parts = parts
        self._literal = Lookup([(place, text) for place, text in entries if not _is_special(text)], itself)
        special = [(place, text) for place, text in entries if _is_special(text)]
        self._expressions = OtherExpressions(
            [(place, _pattern(text)) for place, text in special], {"mode": "fullmatch"}
        )
        self.broken = self._expressions.broken
        self._remembered: dict[str, tuple[int, ...]] = {}

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        return [place for part in self._parts(name) for place in self._fitting(part)]

    def _fitting(self, part: str) -> tuple[int, ...]:
        # The segments of the names of a checkpoint are few; whole names are remembered by the list's own index.
        if part in self._remembered:
            return self._remembered[part]
        found = (*self._literal.fitting(part), *self._expressions.fitting(part))
        if "." not in part:
            self._remembered[part] = found
        return found


class Tails:
    """An operator that compares the entry's last segment with the name's, for a few known segments only.

    An entry fits when its last segment is one of the known ones and lies anywhere in the name's last segment; all that
    stands before is not compared.
    """

    def __init__(self, entries: Numbered, tails: Sequence[str]) -> None:
        self.broken: dict[int, RegexError] = {}
        self._places: dict[str, list[int]] = {tail: [] for tail in tails}
        for place, text in entries:
            self._places.get(text.rpartition(".")[2], []).append(place)

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        leaf = name.rpartition(".")[2]
        return [place for tail, places in self._places.items() if tail in leaf for place in places]


class Substrings:
    """An operator whose entries fit every name that contains them, half a segment or nothing at all included."""

    def __init__(self, entries: Numbered) -> None:
        self.broken: dict[int, RegexError] = {}
        self._entries = tuple(entries)
        self._any = re.compile("|".join(re.escape(text) for _, text in entries)) if entries else None

    def fitting(self, name: str) -> Iterable[int]:
        """Return the positions of the entries that fit the name."""
        if self._any is None or self._any.search(name) is None:
            return ()
        return [place for place, text in self._entries if text in name]


def with_and_without(start: str) -> Callable[[str], tuple[str, ...]]:
    """Return a function that gives a name, and what is left of it behind a beginning, if it has that."""
    return lambda name: (name, name.removeprefix(start)) if start and name.startswith(start) else (name,)


def segments(name: str) -> list[str]:
    """Return the segments of a name, each once."""
    return list(dict.fromkeys(name.split(".")))


def _is_special(text: str) -> bool:
    return not _SPECIAL.isdisjoint(text)


def _flags_first(text: str) -> str:
    """Move flags for the whole pattern to its beginning, where alone ``re`` takes them."""
    flags = "".join(_FLAGS.findall(text))
    return text if not flags or "[" in text else f"(?{flags}){_FLAGS.sub('', text)}"


def _pattern(text: str) -> str:
    return text.replace(".", r"\.").replace("*", ".*")


def _is_other_syntax(text: str, reason: str) -> bool:
    return any(words in reason for words in _OTHER_SYNTAX) or (
        "nothing to repeat" in reason and _AFTER_ANCHOR.search(text) is not None
    )
