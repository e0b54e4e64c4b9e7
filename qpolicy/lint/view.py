"""What every check looks at: the checkpoint, who asks about which layers, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from qpolicy.bind import Ask, Decision, Matcher, Policy, askers, asks, decision_of, no_policy
from qpolicy.checkpoint import Checkpoint, StoredModule
from qpolicy.lang.tree import About, Flag
from qpolicy.lang.walk import condition_of, facts_of


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer that the engine is expected to build, with its decision.

    Attributes:
        ask: The names and the stored modules behind it.
        decision: What was decided for it.
        draft: Whether it belongs to the draft.
    """

    ask: Ask
    decision: Decision
    draft: bool

    @property
    def who(self) -> str:
        """``draft`` or ``target``."""
        return "draft" if self.draft else "target"

    @property
    def modules(self) -> tuple[str, ...]:
        """The names of the stored modules behind it."""
        return tuple(module.name for module in self.ask.modules)

    @property
    def called(self) -> str:
        """The engine's name, with the stored one where that is another."""
        return self.ask.name if self.ask.name == self.ask.stored else f"{self.ask.name} (stored as {self.ask.stored})"

    def on_disk(self, quantized: bool) -> tuple[StoredModule, ...]:
        """Return the modules that are, or are not, quantized on disk."""
        return tuple(module for module in self.ask.modules if module.quantized is quantized)


@dataclass(frozen=True)
class View:
    """One checkpoint under one policy, as one engine will build it.

    Attributes:
        checkpoint: The checkpoint.
        policy: The policy, or None when there is none.
        engine: The engine's name.
        matchers: One for the target and one for the draft, as far as the checkpoint holds them.
        standalone: The checkpoint is a draft of its own and holds no target.
        others: The same checkpoint under the same policy, as other engines will build it.
    """

    checkpoint: Checkpoint
    policy: Policy | None
    engine: str
    matchers: tuple[Matcher, ...]
    standalone: bool = False
    others: tuple[View, ...] = ()

    @classmethod
    def of(
        cls,
        checkpoint: Checkpoint,
        policy: Policy | None,
        *,
        engine: str,
        strict: bool = False,
        standalone: bool = False,
    ) -> View:
        """Bind the policy for the target and for the draft.

        Args:
            checkpoint: The checkpoint.
            policy: The policy, or None.
            engine: The engine's name.
            strict: Make unknown conditions that matter errors.
            standalone: The checkpoint is a draft of its own and holds no target.
        """
        bound = policy or no_policy()
        drafts = askers(checkpoint, standalone=standalone)
        matchers = tuple(bound.bind(checkpoint, engine=engine, draft=draft, strict=strict) for draft in drafts)
        return cls(checkpoint, policy, engine, matchers, standalone)

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Every layer that the engine is expected to ask about, decided."""
        return tuple(
            Layer(ask, decision_of(matcher, ask), matcher.binding.world.draft)
            for matcher in self.matchers
            for ask in asks(matcher)
        )

    @cached_property
    def consults_list(self) -> bool:
        """Whether anything still depends on the checkpoint's own list: a native decision or the fact ``excluded``."""
        return (
            self.policy is None
            or self.uses_excluded
            or any(member.action == "native" for layer in self.layers for member in layer.decision.members)
        )

    @cached_property
    def uses_excluded(self) -> bool:
        """Whether a condition of the policy asks what the list excludes."""
        if self.policy is None:
            return False
        return any(
            isinstance(fact, Flag | About) and fact.name == "excluded"
            for statement in self.policy.document.statements
            for fact in facts_of(condition_of(statement))
        )

    @property
    def list_file(self) -> str:
        """The file that the list stands in which the engine reads."""
        consulted = self.matchers[0].binding.world.consulted or self.checkpoint
        named = (consulted.quantization_file or "config.json").partition(":")[0]
        return str(self.checkpoint.path / named)
