"""The matcher: decides the names that an engine asks about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from qpolicy.bind.answers import Answers
from qpolicy.bind.combine import combine
from qpolicy.bind.decision import Decision, Member
from qpolicy.bind.facts import ModuleFacts
from qpolicy.bind.kleene import Truth, evaluate
from qpolicy.bind.names import asked_name, stored_name
from qpolicy.bind.passes import Binding
from qpolicy.bind.rule import BoundRule
from qpolicy.errors import BindError
from qpolicy.lang.tree import Drop

_HEADS = ("model.shared_head.head", "lm_head")
COVERED_BY_OTHERWISE = frozenset({"linear", "moe", "lm_head"})


class Matcher:
    """Decides modules for one policy, one checkpoint and one asker. Made by :meth:`Policy.bind`.

    Attributes:
        binding: Everything that binding worked out.
    """

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._everywhere = tuple(rule.index for rule in binding.rules if rule.patterns is None)
        self._fired = tuple(drop.rule for drop in binding.drops if drop.truth is True)
        self._decided: dict[tuple[str, str | None], Decision] = {}

    @cached_property
    def whole_draft_drop(self) -> BoundRule | None:
        """The drop that fired over the whole draft, when the draft is being built and one did."""
        if not self.binding.world.draft:
            return None
        return next((rule for rule in self._fired if self._covers_draft(rule)), None)

    @property
    def drops(self) -> bool:
        """True when this draft is to be built without a quantization config.

        A drop that fired over the whole draft, unless the draft's head is quantized on disk: then the config is
        still needed for the head, and the draft's other modules are answered one by one.
        """
        return self.whole_draft_drop is not None and self._kept_head is None

    def decide(self, module: str, *, kind: str | None = None) -> Decision:
        """Decide one name.

        Args:
            module: The name as the engine asks it; a stored name will do as well.
            kind: ``linear``, ``moe``, ``lm_head``, ``embedding`` or ``attention``; by default what the stored
                tensors say.

        Returns:
            The decision. A refusal is a decision too: its action or outcome is ``error``.
        """
        key = (module, kind)
        if key not in self._decided:
            self._decided[key] = self._decide(module, kind)
        return self._decided[key]

    def facts(self, stored: str, kind: str) -> ModuleFacts:
        """Return the facts about one stored module."""
        return ModuleFacts(self.binding.facts, stored, kind, self.binding.world.stored.aliases(stored))

    def candidates(self, aliases: Iterable[str]) -> tuple[BoundRule, ...]:
        """Return the rules whose patterns match one of these names, in order; conditions are not looked at."""
        matched = {position for alias in aliases for position in self.binding.index.matches(alias)}
        return tuple(self.binding.rules[position] for position in sorted(matched.union(self._everywhere)))

    def fired_drop(self, aliases: Iterable[str]) -> BoundRule | None:
        """Return the first drop that fired over one of these names, if any did."""
        names = tuple(aliases)
        return next((rule for rule in self._fired if _catches(rule, names)), None)

    def members(self, module: str) -> tuple[str, ...]:
        """Return the stored modules that an engine name stands for; empty when it reaches none.

        Raises:
            BindError: The name is a draft's and cannot be translated.
        """
        return self.binding.world.stored.members(self._translate(module))

    def _decide(self, module: str, kind: str | None) -> Decision:
        try:
            stored = self._translate(module)
        except BindError as error:
            return Decision.refused(self, module, kind or "linear", str(error))
        names = self.binding.world.stored.members(stored)
        kind = kind or self._kind(names)
        answers = Answers(self.binding, self._as_asked(module, stored), kind)
        if kind == "attention":
            return combine(self, module, kind, (self._attention(stored, answers),), (), answers)
        members = tuple(self._member(name, kind, answers) for name in names or (stored,))
        return combine(self, module, kind, members, tuple(self._warnings(module, names, members)), answers)

    def _warnings(self, module: str, names: tuple[str, ...], members: tuple[Member, ...]) -> Iterator[str]:
        if not names and self.binding.world.checkpoint is not None:
            yield f"{module} reaches no stored tensor, so facts about its tensors are unknown"
        for rule in dict.fromkeys(rule for member in members for rule in member.skipped):
            first = next(member.name for member in members if rule in member.skipped)
            yield unknown_there(rule, first)

    def _attention(self, stored: str, answers: Answers) -> Member:
        # An attention layer owns no weights of its own, so no rule speaks of it; only dropping the config reaches it.
        if self.drops:
            return answers.resolve(stored, self.whole_draft_drop)
        return answers.as_native(stored, None)

    def _member(self, name: str, kind: str, answers: Answers) -> Member:
        facts = self.facts(name, kind)
        drop = self._drop_for(name, facts.aliases)
        if drop is not None:
            return answers.resolve(name, drop)
        skipped: list[BoundRule] = []
        for rule in self.candidates(facts.aliases):
            truth: Truth = rule.condition is None or evaluate(rule.condition, facts.ask)
            if truth:
                return self._checked(answers.resolve(name, rule), skipped, answers)
            if truth is None:
                skipped.append(rule)
        rule_left = self.binding.otherwise if kind in COVERED_BY_OTHERWISE else None
        return self._checked(answers.resolve(name, rule_left), skipped, answers)

    def _drop_for(self, name: str, aliases: tuple[str, ...]) -> BoundRule | None:
        if self.drops:
            return self.whole_draft_drop
        return None if name == self._kept_head else self.fired_drop(aliases)

    def _checked(self, member: Member, skipped: list[BoundRule], answers: Answers) -> Member:
        for rule in skipped if self.binding.world.strict else ():
            would_be = answers.resolve(member.name, rule)
            if would_be.outcome != member.outcome:
                would = f"it would have made the module {would_be.outcome}, not {member.outcome}"
                reason = f"{unknown_there(rule, member.name)}; {would}"
                return Member(member.name, "error", "error", None, rule, reason, tuple(skipped))
        return replace(member, skipped=tuple(skipped)) if skipped else member

    @cached_property
    def _kept_head(self) -> str | None:
        """The stored name of the dropped draft's head where the head is quantized on disk."""
        if self.whole_draft_drop is None or self.binding.world.checkpoint is None:
            return None
        stored = self.binding.world.stored
        heads = (self._translated(name) for name in _HEADS)
        head = next((name for name in heads if name is not None and stored.tensors_of(name)), None)
        module = None if head is None else stored.tensors_of(head)
        return head if module is not None and module.quantized else None

    def _translated(self, module: str) -> str | None:
        try:
            return self._translate(module)
        except BindError:
            return None

    def _translate(self, module: str) -> str:
        world = self.binding.world
        if not world.draft or world.checkpoint is None:
            return module
        return stored_name(world.row, world.checkpoint, module, world.stored.is_stored)

    def _as_asked(self, module: str, stored: str) -> str:
        """Return the engine's spelling of a draft's name: the list is read as the engine asks, never by the other."""
        world = self.binding.world
        if module != stored or world.checkpoint is None:
            return module
        return asked_name(world.row, world.checkpoint, stored)

    def _kind(self, names: tuple[str, ...]) -> str:
        modules = self.binding.world.stored.modules
        if not names:
            return "linear"
        return next((kind for name in names if (kind := modules[name].kind)), "other")

    def _covers_draft(self, rule: BoundRule) -> bool:
        world = self.binding.world
        if world.checkpoint is None:
            return isinstance(rule.node, Drop) and rule.node.scope.name == "mtp"
        draft = [module.name for module in world.stored.quantizable() if world.checkpoint.is_draft_name(module.name)]
        return bool(draft) and all(_catches(rule, world.stored.aliases(name)) for name in draft)


def unknown_there(rule: BoundRule, module: str) -> str:
    """Return the sentence that says why a rule was not applied to a module."""
    return f"{rule.place}: not applied to {module}: its condition is unknown there ({rule.text})"


def _catches(rule: BoundRule, names: Iterable[str]) -> bool:
    return any(pattern.matches(name) for pattern in rule.patterns or () for name in names)
