"""What a finding about a policy alone provides: one check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.analysis import Analysis
from qpolicy.lint.check import Code
from qpolicy.lint.finding import Finding

FindInPolicy: TypeAlias = Callable[[Analysis], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """A code and the function that finds it in what was proven of a policy."""

    code: Code
    find: FindInPolicy
