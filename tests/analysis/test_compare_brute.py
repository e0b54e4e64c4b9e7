"""Two random policies are equivalent exactly where trying everything finds no difference."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from brute import Brute, Module, World, has_drop, modules
from random_policies import Drawn, draw_pair

import qpolicy
from qpolicy.analysis import compare
from qpolicy.lang.tree import Drop

COUNT = int(os.environ.get("QPOLICY_RANDOM_POLICIES", "64"))
BATCH = max(COUNT // 16, 1)


class Decisions:
    """What one policy decides in each situation of a world: labels with the situations in which they hold."""

    def __init__(self, drawn: Drawn, world: World) -> None:
        self._policy = qpolicy.parse(drawn.text)
        self._world = world
        self._brute = Brute(self._policy, world)

    def of(self, module: Module) -> dict[object, int]:
        found: dict[object, int] = {}
        for label, where in self._labelled(module):
            found[label] = found.get(label, 0) | where
        return found

    def _labelled(self, module: Module) -> Iterator[tuple[object, int]]:
        draft, left = self._world.where("draft", True), self._world.all
        for statement, here in zip(self._brute.statements, self._brute.decides(module), strict=True):
            left &= ~here
            if isinstance(statement, Drop):
                yield "dropped", here & draft
                yield ("unquantized", None), here & ~draft
            elif statement.decision.action == "native":
                yield from self._native(here)
            else:
                yield (statement.decision.action, statement.decision.scheme), here
        yield from self._native(left)

    def _native(self, here: int) -> Iterator[tuple[object, int]]:
        draft = self._world.where("draft", True)
        yield ("native", has_drop(self._policy)), here & draft
        yield "native", here & ~draft


def check(seed: int) -> None:
    first, second = draw_pair(seed)
    found = compare(qpolicy.parse(first.text), qpolicy.parse(second.text))
    world = World([qpolicy.parse(first.text), qpolicy.parse(second.text)])
    left, right = Decisions(first, world), Decisions(second, world)

    def same(module: Module) -> int:
        one, other = left.of(module), right.of(module)
        return sum(where & other.get(label, 0) for label, where in one.items())

    segments = tuple(dict.fromkeys((*first.segments, *second.segments)))
    different = [one.name for one in modules(segments, 3) if same(one) != world.all]
    assert found.equivalent is not None
    if found.difference is None:
        assert found.equivalent
        assert not different
        return
    where = found.difference.where
    under = world.under(where.values)
    assert under
    assert not under & same(Module(where.name, where.also)), "they differ whatever else holds"
    assert all((one.count("."), len(one)) >= (where.name.count("."), len(where.name)) for one in different)


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_difference_is_what_trying_everything_says(first: int) -> None:
    for seed in range(first, first + BATCH):
        try:
            check(seed)
        except AssertionError as error:
            texts = "\n".join(one.text for one in draw_pair(seed))
            raise AssertionError(f"seed {seed}:\n{texts}") from error
