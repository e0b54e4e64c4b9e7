"""The statements of a policy that decide modules, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qpolicy.analysis.formulas import Formula
from qpolicy.analysis.translate import Translator
from qpolicy.analysis.vocabulary import Vocabulary
from qpolicy.bind import Policy
from qpolicy.bind.rule import COVERED_BY_OTHERWISE
from qpolicy.lang.tree import Drop, Fact, Is, Otherwise, Rule
from qpolicy.lang.walk import condition_of, facts_of
from qpolicy.paths import Pattern


@dataclass(frozen=True, slots=True, eq=False)
class Decider:
    """A drop, a rule or ``otherwise``.

    Attributes:
        index: Its place among the deciding statements.
        statement: The statement.
        formula: When it decides a module that no earlier one decides.
        condition: The condition alone, whatever the module's name.
    """

    index: int
    statement: Drop | Rule | Otherwise
    formula: Formula
    condition: Formula

    @property
    def line(self) -> int:
        """The line on which it starts, counted from 1."""
        return self.statement.span.line

    @property
    def is_rule(self) -> bool:
        """Whether it is a rule, and neither a drop nor ``otherwise``."""
        return isinstance(self.statement, Rule)


@dataclass(frozen=True, slots=True)
class Script:
    """Some policies, made comparable.

    Attributes:
        deciders: The deciding statements of each policy.
        groups: The groups of patterns that they ask about, by id.
        draft: Whether the draft asks.
    """

    deciders: tuple[tuple[Decider, ...], ...]
    groups: tuple[tuple[Pattern, ...], ...]
    draft: Formula


def script(policies: Sequence[Policy]) -> Script:
    """Translate the deciding statements of some policies over the same variables and groups."""
    vocabulary = Vocabulary(fact for policy in policies for fact in _facts(policy))
    groups: dict[tuple[Pattern, ...], int] = {}
    deciders = tuple(tuple(_deciders(policy, vocabulary, groups)) for policy in policies)
    return Script(deciders, tuple(groups), vocabulary.is_draft)


def _facts(policy: Policy) -> Iterator[Fact]:
    for statement in policy.document.statements:
        yield from facts_of(condition_of(statement))


def _deciders(policy: Policy, vocabulary: Vocabulary, groups: dict[tuple[Pattern, ...], int]) -> Iterator[Decider]:
    translator = Translator(policy.document, vocabulary, groups)
    deciding = (one for one in policy.document.statements if isinstance(one, Drop | Rule | Otherwise))
    for index, statement in enumerate(deciding):
        match statement:
            case Drop():
                formula, condition = translator.drop(statement), translator.condition(statement.condition)
            case Rule():
                formula, condition = translator.rule(statement), translator.condition(statement.condition)
            case Otherwise(span=span):
                covered = Is("kind", tuple(sorted(COVERED_BY_OTHERWISE)), span=span)
                formula = condition = vocabulary.fact(covered)
        yield Decider(index, statement, formula, condition)
