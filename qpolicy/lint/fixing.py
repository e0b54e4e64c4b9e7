"""Mends a policy's text, as far as its findings know how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qpolicy.lint.catalog import SYNTAX_CODES
from qpolicy.lint.finding import Finding
from qpolicy.lint.repair import apply, compatible
from qpolicy.lint.settle import Settled

_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Fixed:
    """A policy's text after its repairs.

    Attributes:
        text: The text.
        count: How many findings were mended.
        left: What is found in it now.
    """

    text: str
    count: int
    left: Settled


def is_mendable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether ``--fix`` mends a finding, with ``--unsafe-fixes`` or without."""
    return finding.repair is not None and (unsafe or finding.repair.safe)


def mended(text: str, look: Callable[[str], Settled], *, unsafe: bool) -> Fixed:
    """Mend a text until nothing is left that can be mended; mending the result again changes nothing.

    Args:
        text: The policy's text.
        look: Finds what there is to say about a text.
        unsafe: Whether the policy may mean something else afterwards.
    """
    found, count = look(text), 0
    for _ in range(_ROUNDS):
        repairs = [one.repair for one in found.findings if one.repair and is_mendable(one, unsafe=unsafe)]
        choices = [compatible(repairs), *([repair] for repair in repairs)] if repairs else []
        for chosen in choices:
            after = look(apply(text, chosen))
            if not _is_broken(after):
                text, found, count = apply(text, chosen), after, count + len(chosen)
                break
        else:
            break
    return Fixed(text, count, found)


def _is_broken(settled: Settled) -> bool:
    """Whether a text does not parse: repairs that need each other were not made together."""
    return any(finding.code in SYNTAX_CODES for finding in settled.findings)
