"""Module names with their numbers taken out, so that all layers and all experts become one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from qpolicy.analysis.inference.numbers import Place
from qpolicy.paths.braces import MAX_DIGITS

Template: TypeAlias = tuple[str | None, ...]
"""The segments of a name; None stands where a number was."""

_NUMBER = re.compile(rf"0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}}")


@dataclass(frozen=True, slots=True)
class Unit:
    """One name that a policy has to decide.

    Attributes:
        name: A stored module's name, or the name of an experts container whose members are all alike.
        template: Its segments without the numbers.
        place: The numbers.
    """

    name: str
    template: Template
    place: Place


def unit(name: str) -> Unit:
    """Take a name apart."""
    segments = name.split(".")
    template = tuple(None if _is_number(segment) else segment for segment in segments)
    place = tuple(int(segment) for segment, left in zip(segments, template, strict=True) if left is None)
    return Unit(name, template, place)


def by_template(names: Iterable[str]) -> dict[Template, set[Place]]:
    """Return the places of each template."""
    found: dict[Template, set[Place]] = {}
    for name in names:
        one = unit(name)
        found.setdefault(one.template, set()).add(one.place)
    return found


def holes(template: Template) -> int:
    """Return how many numbers a template leaves out."""
    return template.count(None)


@lru_cache(maxsize=65_536)
def _is_number(segment: str) -> bool:
    return _NUMBER.fullmatch(segment) is not None
