"""Every answer about random policies, held against trying everything.

A few hundred policies by default; ``QPOLICY_RANDOM_POLICIES=10000`` tries as many.
"""

from __future__ import annotations

import os

import pytest
from brute import Brute, Module, World, modules
from random_policies import Drawn, draw

import qpolicy
from qpolicy.analysis.proof import Proof
from qpolicy.analysis.prove import prove
from qpolicy.analysis.situation import Situation

COUNT = int(os.environ.get("QPOLICY_RANDOM_POLICIES", "192"))
BATCH = max(COUNT // 16, 1)


def size(name: str) -> tuple[int, int]:
    return name.count("."), len(name)


class Trial:
    """One policy with what was proven of it, and what trying everything says."""

    def __init__(self, drawn: Drawn) -> None:
        policy = qpolicy.parse(drawn.text)
        self.proofs = prove(policy)
        self.world = World([policy])
        self.brute = Brute(policy, self.world)
        # A head, and names that are longer than every pattern; the many are kept shorter to be quick.
        names = [*modules(drawn.segments, 3), *map(Module, ("lm_head", "z.z.z.z", "z.z.z.z.z"))]
        self.modules = [*names, *modules(drawn.segments[:3], 4), *map(module_of, self._situations())]
        self.applies = [self.brute.applies(module) for module in self.modules]
        self.decides = [self.brute.first(here) for here in self.applies]

    def _situations(self) -> list[Situation]:
        witnesses = [proof.witness for proof in self.proofs if proof.witness]
        return witnesses + [taken.where for proof in self.proofs for taken in proof.taken]

    def check(self) -> None:
        for index, proof in enumerate(self.proofs):
            if proof.verdict != "undecided":
                self._check(index, proof)

    def _check(self, index: int, proof: Proof) -> None:
        live = any(here[index] for here in self.decides)
        applies = any(here[index] for here in self.applies)
        assert proof.verdict == ("live" if live else "dead" if applies else "never")
        if proof.witness:
            self._check_shortest(index, proof.witness)
        taken = {
            by for by in range(index) if any(d[by] & a[index] for d, a in zip(self.decides, self.applies, strict=True))
        }
        assert {one.by.index for one in proof.taken} == taken
        for one in proof.taken:
            module, under = module_of(one.where), self.under(one.where)
            assert under
            assert not under & ~(self.brute.decides(module)[one.by.index] & self.brute.applies(module)[index])
        assert proof.always == all(here[index] == self.world.all for here in self.applies)

    def _check_shortest(self, index: int, witness: Situation) -> None:
        under = self.under(witness)
        assert under, "the situation is consistent"
        assert not under & ~self.brute.decides(module_of(witness))[index], "whatever else holds, the statement decides"
        lengths = [size(module.name) for module, here in zip(self.modules, self.decides, strict=True) if here[index]]
        assert size(witness.name) == min(lengths)

    def under(self, situation: Situation) -> int:
        return self.world.under(situation.values)


def module_of(situation: Situation) -> Module:
    return Module(situation.name, situation.also)


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_every_answer_is_what_trying_everything_says(first: int) -> None:
    undecided = 0
    for seed in range(first, first + BATCH):
        drawn = draw(seed)
        trial = Trial(drawn)
        undecided += any(proof.verdict == "undecided" for proof in trial.proofs)
        try:
            trial.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}:\n{drawn.text}") from error
    assert undecided <= BATCH // 100
