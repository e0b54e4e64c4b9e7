"""Which codes are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from qpolicy.errors import QPolicyError
from qpolicy.lint.catalog import NAMES, SYNTAX_CODES, code_of


@dataclass(frozen=True, slots=True)
class Selection:
    """Which codes are reported.

    Attributes:
        select: Prefixes of the codes that are; none stands for all.
        ignore: Prefixes of the codes that are not.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def includes(self, code: str) -> bool:
        """Whether a code is reported: the longer prefix wins, and ``ignore`` where both are equally long.

        Mistakes in a policy's text are always reported.
        """
        wanted = _longest(code, self.select) if self.select else 0
        return code in SYNTAX_CODES or wanted > _longest(code, self.ignore)


EVERYTHING = Selection()
"""Every code."""


def _longest(code: str, prefixes: Sequence[str]) -> int:
    """Return the length of the longest prefix that fits, or -1."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def prefixes(texts: Iterable[str], where: str) -> tuple[str, ...]:
    """Read what a user wrote: codes, prefixes such as ``QP3``, and names.

    Args:
        texts: What is written.
        where: Where it is, for the error's message.

    Returns:
        The prefixes of codes that it stands for.

    Raises:
        QPolicyError: One of the texts fits no code.
    """
    return tuple(_prefix(text, where) for text in texts)


def _prefix(text: str, where: str) -> str:
    found = code_of(text)
    if found is not None:
        return found
    if text.startswith("Q") and any(code.startswith(text) for code in NAMES):
        return text
    raise QPolicyError(f"{where}: '{text}' is not a finding's code, name or prefix{near_code(text)}")


def near_code(text: str) -> str:
    """Return a hint at the code or name that is nearest to a text; empty when none is near."""
    known = [*NAMES, *NAMES.values()]
    begun = [name for name in known if text and name.casefold().startswith(text.casefold())]
    # One that is written alike but for its case, or of which only the end is missing.
    near = begun[:1] if len(begun) == 1 else get_close_matches(text, known, 1, 0.7)
    return f"; did you mean '{near[0]}'?" if near else "; `qpolicy rule` lists them"
