"""Puts findings together that say the same of different layers, so that sixty routers read as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qpolicy.lint.finding import Finding
from qpolicy.lint.reporters.names import braces

_LAYER = re.compile(r"(?<=\.)(?:0|[1-9][0-9]{0,8})(?=\.)")


@dataclass(frozen=True, slots=True)
class Group:
    """Some findings as one.

    Attributes:
        finding: The finding that stands for all of them, with the modules of all of them.
        count: How many there are.
    """

    finding: Finding
    count: int


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """Return the findings, those that differ only in numbers inside module names as one, in order of their first."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        same = replace(finding, modules=(), message="", fix=None, repair=None)
        groups.setdefault((same, _shape(finding.message), _shape(finding.fix or "")), []).append(finding)
    return [Group(_one(group), len(group)) for group in groups.values()]


def _one(group: Sequence[Finding]) -> Finding:
    if len(group) == 1:
        return group[0]
    return replace(
        group[0],
        message=_merged([finding.message for finding in group]),
        modules=tuple(dict.fromkeys(name for finding in group for name in finding.modules)),
        fix=_fix([finding.fix for finding in group if finding.fix]),
    )


def _shape(text: str) -> tuple[str, ...]:
    return tuple(_LAYER.split(text))


def _merged(texts: Sequence[str]) -> str:
    """Return texts of one shape as one, the numbers that differ as braces."""
    columns = iter([braces(map(int, column)) for column in zip(*map(_LAYER.findall, texts), strict=True)])
    return _LAYER.sub(lambda _: next(columns), texts[0])


def _fix(texts: Sequence[str]) -> str | None:
    """Return fixes of one shape as one policy text.

    Braces stand for every combination of their numbers, so only one number may differ; else every fix is kept.
    """
    if not texts:
        return None
    differing = sum(len(set(column)) > 1 for column in zip(*map(_LAYER.findall, texts), strict=True))
    return _merged(texts) if differing <= 1 else "\n".join(dict.fromkeys(texts))
