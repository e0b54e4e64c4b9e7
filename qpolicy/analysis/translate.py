"""Statements become formulas: who they select and under which condition they apply, in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qpolicy.analysis.formulas import Atom, Formula, Path, every, inverse, some
from qpolicy.analysis.heads import head_patterns
from qpolicy.analysis.vocabulary import Vocabulary
from qpolicy.bind.resolve import Sets, parse_pattern
from qpolicy.checkpoint.draft import draft_patterns
from qpolicy.lang.tree import About, And, Condition, Document, Drop, Fact, Let, Not, Or, PathIn, Rule, Selector, SetRef
from qpolicy.paths import Pattern

# With these, @mtp is what it is without a config, and with one whose draft layers begin at an N that is not known.
_SPELLED = tuple(map(parse_pattern, draft_patterns(None, 0)))
_NUMBERED = tuple(parse_pattern(text) for text in draft_patterns(0, 1) if parse_pattern(text) not in _SPELLED)


@dataclass(frozen=True, slots=True)
class Names:
    """What selectors come to.

    Attributes:
        spelled: The patterns that always belong to them.
        numbered: Those that speak of layers behind the target's, as far as ``@mtp`` is among the selectors.
    """

    spelled: tuple[Pattern, ...]
    numbered: tuple[Pattern, ...]

    @property
    def key(self) -> str:
        """What they come to as text, the same for selectors that list the same patterns in any order."""
        return "|".join(",".join(sorted(map(str, patterns))) for patterns in (self.spelled, self.numbered))


class Selections:
    """Resolves the selectors of one policy.

    Args:
        document: The policy.
    """

    def __init__(self, document: Document) -> None:
        lets = [statement for statement in document.statements if isinstance(statement, Let)]
        self._spelled = Sets(lets, _SPELLED)
        self._all = Sets(lets, (*_SPELLED, *_NUMBERED))

    def names(self, selectors: Iterable[Selector]) -> Names:
        """Return what some selectors come to together."""
        listed = list(selectors)
        spelled = dict.fromkeys(pattern for one in listed for pattern in self._spelled.expand(one))
        both = dict.fromkeys(pattern for one in listed for pattern in self._all.expand(one))
        return Names(tuple(spelled), tuple(pattern for pattern in both if pattern not in spelled))


class Translator:
    """Translates statements of one policy; several may share a vocabulary and groups.

    Args:
        document: The policy.
        vocabulary: The variables behind its facts.
        groups: The groups of patterns that formulas ask about; added to.
    """

    def __init__(self, document: Document, vocabulary: Vocabulary, groups: dict[tuple[Pattern, ...], int]) -> None:
        self._selections = Selections(document)
        self._vocabulary = vocabulary
        self._groups = groups

    def rule(self, rule: Rule) -> Formula:
        """Return when a rule applies."""
        return every((self.scope(rule.selectors), self.condition(rule.condition)))

    def drop(self, drop: Drop) -> Formula:
        """Return when a drop decides a module: it fires and covers it, and the module is no head that is kept."""
        kept = every((self._group(head_patterns()), Atom(self._vocabulary.kept_head, frozenset([True]))))
        return every((self.scope([drop.scope]), self.condition(drop.condition), inverse(kept)))

    def scope(self, selectors: Sequence[Selector]) -> Formula:
        """Return when a module is selected; no selectors select every module."""
        return self._selected(selectors) if selectors else every(())

    def condition(self, condition: Condition | None) -> Formula:
        """Return when a condition is true; no condition always is."""
        match condition:
            case None:
                return every(())
            case And(parts):
                return every(map(self.condition, parts))
            case Or(parts):
                return some(map(self.condition, parts))
            case Not(part):
                return inverse(self.condition(part))
        return self._fact(condition)

    def _fact(self, fact: Fact) -> Formula:
        match fact:
            case PathIn(selectors):
                return self._selected(selectors)
            case About(name, selector):
                return self._vocabulary.about(name, self._selections.names([selector]).key, written(selector))
        return self._vocabulary.fact(fact)

    def _selected(self, selectors: Iterable[Selector]) -> Formula:
        names = self._selections.names(selectors)
        spelled = self._group(names.spelled)
        if not names.numbered:
            return spelled
        return some((spelled, every((self._group(names.numbered), Atom(self._vocabulary.numbered, frozenset([True]))))))

    def _group(self, patterns: tuple[Pattern, ...]) -> Formula:
        return Path(self._groups.setdefault(patterns, len(self._groups)))


def written(selector: Selector) -> str:
    """Return a selector as it is written."""
    if not isinstance(selector, SetRef):
        return selector.text
    return f"@{selector.name}" if selector.rest is None else f"@{selector.name}.{selector.rest}"
