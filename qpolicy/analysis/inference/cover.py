"""Chooses the patterns: as few as it takes to cover every wanted name."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from qpolicy.analysis.inference.candidates import Candidate, candidates
from qpolicy.analysis.inference.merge import merged
from qpolicy.analysis.inference.refused import Refused
from qpolicy.analysis.inference.shapes import Shape, pieces, rests, spelled
from qpolicy.analysis.inference.templates import Unit, unit
from qpolicy.errors import QPolicyError

MOST_PATTERNS = 1_000
"""More patterns than this are no policy that anybody could read."""

_PER_PIECE = 0.1


def cover(wanted: Iterable[str], refused: Refused) -> tuple[Shape, ...]:
    """Return patterns that match every wanted module and no refused one.

    A pattern is worth the templates that it covers: a router counts once, however many layers have one. Taken is the
    pattern that is worth most for its length, then the next for what is left. Among equals the one that says more is
    preferred: fewer ``**``, then more segments.

    Args:
        wanted: The modules to match.
        refused: The modules that must not be matched.

    Raises:
        QPolicyError: It takes more than :data:`MOST_PATTERNS` patterns.
    """
    units = [unit(name) for name in refused.units(wanted)]
    chosen = _needed(_chosen(units, candidates(units, refused.templates)))
    return merged([one.shape for one in chosen])


def _chosen(units: Sequence[Unit], offered: Sequence[Candidate]) -> list[Candidate]:
    """Take the best candidate until nothing is left; what a candidate is worth only ever falls, so a heap will do."""
    sizes = Counter(one.template for one in units)
    weights = [1 / sizes[one.template] for one in units]
    left = set(range(len(units)))
    heap = [(_rank(one, left, weights), at) for at, one in enumerate(offered)]
    heapq.heapify(heap)
    chosen: list[Candidate] = []
    while left and heap:
        before, at = heapq.heappop(heap)
        rank = _rank(offered[at], left, weights)
        if rank == before:
            chosen.append(offered[at])
            left -= offered[at].covers
            _check_length(chosen)
        elif rank[0]:
            heapq.heappush(heap, (rank, at))
    return chosen


def _rank(candidate: Candidate, left: Set[int], weights: Sequence[float]) -> tuple[float, int, int, str]:
    """Return a candidate's place in the order of preference, the smaller the better; it begins with 0 at no worth."""
    shape = candidate.shape
    worth = sum(weights[position] for position in candidate.covers & left)
    price = 1 + _PER_PIECE * max(pieces(shape) - 1, 0)
    return -round(worth / price, 6), rests(shape), -len(shape), spelled(shape)


def _check_length(chosen: Sequence[Candidate]) -> None:
    if len(chosen) > MOST_PATTERNS:
        raise QPolicyError(
            f"it takes more than {MOST_PATTERNS:,} patterns to tell plain modules from quantized ones by their names; "
            "nobody could read such a policy. `--facts` writes the short form that asks the tensors"
        )


def _needed(chosen: Sequence[Candidate]) -> list[Candidate]:
    """Leave out, from the last one on, every pattern whose names the others cover."""
    times = Counter(position for one in chosen for position in one.covers)
    kept: list[Candidate] = []
    for one in reversed(chosen):
        if all(times[position] > 1 for position in one.covers):
            times.subtract(one.covers)
        else:
            kept.append(one)
    return kept[::-1]
