"""Three-valued logic."""

from __future__ import annotations

from itertools import product

import pytest

from qpolicy.bind.kleene import Truth, all_of, any_of, evaluate, negated, trace
from qpolicy.lang.source import Span
from qpolicy.lang.tree import And, Flag, Not, Or

TRUTHS: tuple[Truth, ...] = (True, False, None)
HERE = Span(0, 0, 1, 1)
NUMBERS = {True: 1.0, False: 0.0, None: 0.5}


@pytest.mark.parametrize(("left", "right"), list(product(TRUTHS, TRUTHS)))
def test_and_is_the_least_and_or_the_greatest(left: Truth, right: Truth) -> None:
    assert NUMBERS[all_of((left, right))] == min(NUMBERS[left], NUMBERS[right])
    assert NUMBERS[any_of((left, right))] == max(NUMBERS[left], NUMBERS[right])
    assert NUMBERS[negated(left)] == 1 - NUMBERS[left]


def test_a_condition_and_its_trace_agree() -> None:
    truths: dict[str, Truth] = {"a": True, "b": None, "c": False}
    flags = {name: Flag(name, span=HERE) for name in truths}
    inner = Or((flags["c"], flags["b"]), span=HERE)
    condition = And((flags["a"], Not(inner, span=HERE)), span=HERE)

    def ask(fact: object) -> Truth:
        assert isinstance(fact, Flag)
        return truths[fact.name]

    clause = trace(condition, ask)
    assert evaluate(condition, ask) is None
    assert clause.truth is None
    assert [(fact.node, fact.truth) for fact in clause.facts()] == [
        (flags["a"], True),
        (flags["c"], False),
        (flags["b"], None),
    ]


def test_facts_that_no_longer_matter_are_not_asked() -> None:
    def ask(fact: object) -> Truth:
        assert isinstance(fact, Flag)
        assert fact.name == "first"
        return False

    assert evaluate(And((Flag("first", span=HERE), Flag("second", span=HERE)), span=HERE), ask) is False
