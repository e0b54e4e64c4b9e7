"""The patterns that may be used: each takes wanted names in and no name of the opposite state.

There are three forms. A name with its numbers generalised (``model.layers.{0..}.mlp.gate``), a subtree whose modules
all agree (``model.layers.{0..2}.mlp.**``), and a run of words at any depth (``**.mlp.gate``, ``**.shared_expert.**``).
The first two match only what lies under the very same words, so that the names under them are all there is to look at;
the third is tried against every template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from qpolicy.analysis.inference.numbers import Box, Place, boxes
from qpolicy.analysis.inference.shapes import REST, Numbers, Shape, Words, spelled
from qpolicy.analysis.inference.templates import Template, Unit, holes
from qpolicy.paths.parser import MAX_CHARACTERS, MAX_SEGMENTS

MOST_TEMPLATES = 2_000
"""Up to how many different templates, wanted and refused, runs at any depth are tried."""

DEEPEST = 32
"""Up to how many segments of a name are looked at one by one."""


Against: TypeAlias = Mapping[Template, Set[Place]]
"""The names that must not be matched: the places of each template."""

_NOWHERE: Set[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pattern with what it takes in.

    Attributes:
        shape: The pattern.
        covers: The positions of the wanted units that it matches.
    """

    shape: Shape
    covers: frozenset[int]


def candidates(wanted: Sequence[Unit], against: Against) -> list[Candidate]:
    """Return every pattern of the three forms that covers a wanted unit and matches no refused name.

    Args:
        wanted: The units to cover.
        against: All names by which a pattern could catch a module of the opposite state.
    """
    found = [one for one in (*_names(wanted, against), *_subtrees(wanted, against)) if _can_be_written(one.shape)]
    templates = {one.template for one in wanted}
    every = [*templates, *against]
    if len(every) <= MOST_TEMPLATES and max(map(len, every), default=0) <= DEEPEST:
        found += _runs(wanted, templates, against)
    return found


def _can_be_written(shape: Shape) -> bool:
    return len(shape) <= MAX_SEGMENTS and len(spelled(shape)) <= MAX_CHARACTERS


def _names(wanted: Sequence[Unit], against: Against) -> Iterator[Candidate]:
    for template, places in _grouped(wanted, None).items():
        yield from _boxed(template, (), places, against.get(template, _NOWHERE))


def _subtrees(wanted: Sequence[Unit], against: Against) -> Iterator[Candidate]:
    deepest = max((len(one.template) for one in wanted), default=0)
    for depth in range(1, min(deepest, DEEPEST)):
        inside = _grouped(wanted, depth)
        outside: dict[Template, set[Place]] = {}
        for template, places in against.items():
            if (stem := template[:depth]) in inside:
                outside.setdefault(stem, set()).update(place[: holes(stem)] for place in places)
        for stem, members in inside.items():
            yield from _boxed(stem, (REST,), members, outside.get(stem, set()))


def _grouped(wanted: Sequence[Unit], depth: int | None) -> dict[Template, dict[Place, set[int]]]:
    """Group unit positions by the first segments of their templates, and then by the numbers in these."""
    found: dict[Template, dict[Place, set[int]]] = {}
    for position, one in enumerate(wanted):
        if depth is None or depth < len(one.template):
            stem = one.template[:depth]
            found.setdefault(stem, {}).setdefault(one.place[: holes(stem)], set()).add(position)
    return found


def _boxed(stem: Template, end: Shape, members: dict[Place, set[int]], against: Set[Place]) -> Iterator[Candidate]:
    agreeing = members.keys() - against
    for box in boxes(agreeing, against) if agreeing else ():
        covers = frozenset(position for place in box.places for position in members[place])
        yield Candidate(_filled(stem, box) + end, covers)


def _filled(stem: Template, box: Box) -> Shape:
    numbers: Iterator[Numbers] = iter(box.numbers)
    return tuple(next(numbers) if segment is None else Words((segment,)) for segment in stem)


def _runs(wanted: Sequence[Unit], templates: set[Template], against: Iterable[Template]) -> Iterator[Candidate]:
    """Yield runs of words behind a template's last number that at least two templates have."""
    refused = {run for template in against for run in _runs_of(template, 0)}
    having: dict[tuple[Template, bool], set[Template]] = {}
    offered = {run for template in templates for run in _runs_of(template, _behind_numbers(template))}
    for template in templates:
        for run in _runs_of(template, 0) & offered:
            having.setdefault(run, set()).add(template)
    positions: dict[Template, list[int]] = {}
    for position, one in enumerate(wanted):
        positions.setdefault(one.template, []).append(position)
    for (words, closed), found in having.items():
        if len(found) > 1 and (words, closed) not in refused:
            covers = frozenset(position for template in found for position in positions[template])
            middle = tuple(Words((word,)) for word in words if word is not None)
            yield Candidate((REST, *middle) if closed else (REST, *middle, REST), covers)


def _runs_of(template: Template, start: int) -> set[tuple[Template, bool]]:
    """Return every run of segments without a number, with whether the name ends there."""
    found: set[tuple[Template, bool]] = set()
    for first in range(start, len(template)):
        for end in range(first + 1, len(template) + 1):
            if template[end - 1] is None:
                break
            found.add((template[first:end], False))
            if end == len(template):
                found.add((template[first:end], True))
    return found


def _behind_numbers(template: Template) -> int:
    return max((at + 1 for at, segment in enumerate(template) if segment is None), default=0)
