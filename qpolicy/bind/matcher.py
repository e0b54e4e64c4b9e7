"""The matcher: decides the names that an engine asks about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qpolicy.bind.answers import Answers
from qpolicy.bind.combine import combine
from qpolicy.bind.decision import Decision, Member
from qpolicy.bind.drops import Drops
from qpolicy.bind.explain import explain
from qpolicy.bind.facts import ModuleFacts
from qpolicy.bind.kleene import Truth, evaluate
from qpolicy.bind.lookup import Lookup
from qpolicy.bind.passes import Binding
from qpolicy.bind.rule import COVERED_BY_OTHERWISE, BoundRule
from qpolicy.errors import BindError


class Matcher:
    """Decides modules for one policy, one checkpoint and one asker. Made by :meth:`Policy.bind`.

    Attributes:
        binding: Everything that binding worked out.
        draft_layer: The number of the draft layer that is built, of a draft that the engine builds layer by layer.
    """

    def __init__(self, binding: Binding, draft_layer: int = 0) -> None:
        self.binding = binding
        self.draft_layer = draft_layer
        self._others: dict[int, Matcher] = {draft_layer: self}
        self._lookup = Lookup(binding, draft_layer)
        self._drops = Drops(self._lookup)
        self._decided: dict[tuple[str, str | None, bool], Decision] = {}

    def at(self, draft_layer: int) -> Matcher:
        """Return the matcher of the same policy, checkpoint and asker for another layer of the draft.

        Such a layer asks by the same names for other tensors.
        """
        if draft_layer not in self._others:
            other = self._others[draft_layer] = Matcher(self.binding, draft_layer)
            other._others = self._others
        return self._others[draft_layer]

    @property
    def drops(self) -> bool:
        """True when this draft is to be built without a quantization config.

        A drop that fired over the whole draft, unless the draft's head is quantized on disk: then the config is
        still needed for the head, and the draft's other modules are answered one by one.
        """
        return self._drops.everything

    def decide(self, module: str, *, kind: str | None = None, shared: bool = False) -> Decision:
        """Decide one name.

        Args:
            module: The name as the engine asks it; a stored name will do as well.
            kind: ``linear``, ``moe``, ``lm_head``, ``embedding`` or ``attention``; by default what the stored
                tensors say.
            shared: Whether the engine builds the shared experts into this layer, as one more of its experts.

        Returns:
            The decision. A refusal is a decision too: its action or outcome is ``error``.
        """
        key = (module, kind, shared)
        if key not in self._decided:
            self._decided[key] = self._decide(module, kind, shared)
        return self._decided[key]

    def members(self, module: str) -> tuple[str, ...]:
        """Return the stored modules that an engine name stands for; empty when it reaches none.

        Raises:
            BindError: The name is a draft's and cannot be translated.
        """
        return self.binding.world.stored.members(self._lookup.stored(module))

    def facts(self, stored: str, kind: str) -> ModuleFacts:
        """Return the facts about one stored module."""
        return self._lookup.facts(stored, kind)

    def explain(self, decision: Decision) -> str:
        """Return why a decision of this matcher came out as it did, several lines long."""
        return explain(decision, self._lookup)

    def _decide(self, module: str, kind: str | None, shared: bool) -> Decision:
        try:
            stored = self._lookup.stored(module)
        except BindError as error:
            return Decision.refused(module, kind or "linear", str(error), self.explain)
        names = self.binding.world.stored.members(stored)
        kind = kind or self._lookup.kind(names)
        answers = Answers(self.binding, self._lookup.as_asked(module, stored), kind)
        if kind == "attention":
            members: tuple[Member, ...] = (self._attention(stored, answers),)
        else:
            members = tuple(self._member(name, kind, answers) for name in names or (stored,))
            beside = self.binding.world.stored.shared(stored) if shared else ()
            members += tuple(self._member(name, kind, answers, stored) for name in beside)
        decision = combine(module, kind, members, answers, self.binding.facts, self.explain)
        return replace(decision, warnings=tuple(self._warnings(decision, bool(names))))

    def _warnings(self, decision: Decision, stored: bool) -> Iterator[str]:
        if not stored and self.binding.world.checkpoint is not None and decision.kind != "attention":
            yield f"{decision.module} reaches no stored tensor, so facts about its tensors are unknown"
        for rule in dict.fromkeys(rule for member in decision.members for rule in member.skipped):
            yield _unknown_there(rule, next(member.name for member in decision.members if rule in member.skipped))

    def _attention(self, stored: str, answers: Answers) -> Member:
        # An attention layer owns no weights of its own, so no rule speaks of it; only dropping the config reaches it.
        if self.drops:
            return answers.resolve(stored, self._drops.whole_draft)
        return answers.as_native(stored, None)

    def _member(self, name: str, kind: str, answers: Answers, within: str | None = None) -> Member:
        facts = self._lookup.facts(name, kind, within)
        drop = self._drops.over(name, facts.aliases)
        if drop is not None:
            return answers.resolve(name, drop)
        skipped: list[BoundRule] = []
        for rule in self._lookup.candidates(facts.aliases):
            truth: Truth = rule.condition is None or evaluate(rule.condition, facts.ask)
            if truth:
                return self._checked(answers.resolve(name, rule), skipped, answers)
            if truth is None:
                skipped.append(rule)
        otherwise = self.binding.otherwise if kind in COVERED_BY_OTHERWISE else None
        return self._checked(answers.resolve(name, otherwise), skipped, answers)

    def _checked(self, member: Member, skipped: list[BoundRule], answers: Answers) -> Member:
        for rule in skipped if self.binding.world.strict else ():
            would_be = answers.resolve(member.name, rule)
            if would_be.outcome != member.outcome:
                would = f"it would have made the module {would_be.outcome}, not {member.outcome}"
                reason = f"{_unknown_there(rule, member.name)}; {would}"
                return Member(member.name, "error", "error", None, rule, reason, tuple(skipped))
        return replace(member, skipped=tuple(skipped)) if skipped else member


def _unknown_there(rule: BoundRule, module: str) -> str:
    return f"{rule.place}: not applied to {module}: its condition is unknown there ({rule.text})"
