"""Comments that suppress findings: ``# qpolicy: ignore[QP205]`` and ``# qpolicy: ignore-file[QP205]``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from qpolicy.lang.comments import Comment, comments
from qpolicy.lang.source import Source, Span

LINES, FILE = "ignore", "ignore-file"

_INSTRUCTION = re.compile(r"#\s*qpolicy:\s*(?P<what>[\w-]+)\s*(?:\[(?P<codes>[^\]]*)\])?")
_CODE = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Named:
    """One code, or a code's name, as it is written in the brackets."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Suppression:
    """One instruction in a comment.

    Attributes:
        what: ``ignore`` or ``ignore-file``, or a word that was probably meant as one of them.
        codes: What stands in the brackets; None where there are none.
        comment: The comment that it stands in.
        span: The instruction, from its sign to the closing bracket.
    """

    what: str
    codes: tuple[Named, ...] | None
    comment: Comment
    span: Span

    def covers(self, line: int) -> bool:
        """Whether a finding on this line is suppressed, if its code is named."""
        if self.what == FILE:
            return True
        lines = self.comment.lines
        return self.what == LINES and lines is not None and lines[0] <= line <= lines[1]


def suppressions(source: Source) -> tuple[Suppression, ...]:
    """Return the instructions of a policy that parses, in order."""
    if "qpolicy:" not in source.text:
        return ()
    return tuple(found for comment in comments(source) for found in _read(comment, source))


def _read(comment: Comment, source: Source) -> Iterator[Suppression]:
    for found in _INSTRUCTION.finditer(comment.text):
        if not get_close_matches(found["what"], (LINES, FILE), 1):
            continue
        codes = None
        if found["codes"] is not None:
            at = found.start("codes")
            codes = tuple(
                Named(one[0], source.narrowed(comment.span, at + one.start(), at + one.end()))
                for one in _CODE.finditer(found["codes"])
            )
        yield Suppression(found["what"], codes, comment, source.narrowed(comment.span, found.start(), found.end()))
