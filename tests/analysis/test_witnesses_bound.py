"""Witnesses hold outside the analysis: bound to a checkpoint made after them, the policy decides as was proven."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from checkpoints import write_checkpoint
from random_policies import draw_from

import qpolicy
from qpolicy.analysis import Situation, analyse
from qpolicy.analysis.variables import OTHER, UNKNOWN_DTYPE, Value
from qpolicy.checkpoint import FUSED

SEGMENTS = (("a", "b"), ("a", "q_proj", "k_proj", "qkv_proj"), ("a", "experts", "0", "up_proj"))
FACTS = ("draft", "target", "has(weight)", "has(bias)", "dtype(weight) == bf16", "kind == moe", "kind in (moe, linear)")
SEEDS = range(60)


def stored_dtype(value: Value) -> str | None:
    """The header's dtype for what a witness assumes about a tensor; None for a tensor that is not there."""
    return {"absent": None, "bf16": "BF16", OTHER: "F32", "present": "F32"}.get(str(value), "F32")


def replay(folder: Path, policy: qpolicy.Policy, where: Situation) -> int | None:
    """The line that decides a witness's module, on a checkpoint that holds what the witness assumes."""
    assumed = dict(where.values)
    tensors = {"other": "F32"} | {
        name.removeprefix("tensor "): dtype
        for name, value in assumed.items()
        if name.startswith("tensor ") and (dtype := stored_dtype(value))
    }
    module = "elsewhere" if assumed.get("tensors") is False or None in assumed.values() else where.name
    write_checkpoint(folder, {f"{module}.{name}": (dtype, (4, 4)) for name, dtype in tensors.items()}, {})
    packed = {fused.rpartition(".")[2]: FUSED[fused.rpartition(".")[2]] for fused in where.also}
    matcher = policy.bind(qpolicy.open_checkpoint(folder), draft=assumed.get("draft") is True, packed=packed)
    decision = matcher.decide(where.name, kind=str(assumed.get("kind", "linear")))
    return decision.members[0].rule.line if decision.members[0].rule else None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_matcher_decides_as_was_proven(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    drawn = draw_from(random, random.choice(SEGMENTS), random.sample(FACTS, k=3))
    policy = qpolicy.parse(drawn.text)
    for proof in analyse(policy).proofs:
        for line, where in [(proof.decider.line, proof.witness), *((one.by.line, one.where) for one in proof.taken)]:
            if where is None or UNKNOWN_DTYPE in dict(where.values).values() or ("kept head", True) in where.values:
                continue  # takes more than a checkpoint of one module
            found = replay(tmp_path / f"{proof.decider.index}-{line}", policy, where)
            assert found == line, f"{where.text}:\n{drawn.text}"
