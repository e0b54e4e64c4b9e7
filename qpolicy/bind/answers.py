"""What each decision comes to for one engine name: the engine's reading is asked once, as the engine asks it."""

from __future__ import annotations

from functools import cached_property

from qpolicy.bind.decision import Member
from qpolicy.bind.passes import Binding
from qpolicy.bind.rule import BoundRule
from qpolicy.native import Answer

NOTHING_LISTED = Answer(
    outcome="unquantized", scheme=None, excluded=False, entries=(), why="the checkpoint has no quantization config"
)


class Answers:
    """Resolves decisions for one engine name.

    Args:
        binding: The policy bound to a checkpoint.
        module: The name as the engine asks it.
        kind: The kind that it asks as.
    """

    def __init__(self, binding: Binding, module: str, kind: str) -> None:
        self._world = binding.world
        self._drop_statements = bool(binding.drops)
        self._module = module
        self._kind = kind

    @cached_property
    def native(self) -> Answer | None:
        """What the engine makes of the checkpoint's list; None without a checkpoint.

        A drop statement replaces the engine's own rule for leaving a draft unquantized, whatever the drop's truth.
        """
        if self._world.checkpoint is None:
            return None
        if self._world.nulled is not None and not self._drop_statements:
            return Answer(outcome="unquantized", scheme=None, excluded=False, entries=(), why=self._world.nulled)
        if self._world.reading is None:
            return NOTHING_LISTED
        return self._world.reading.ask(self._module, self._kind)

    @cached_property
    def listed_as_quantized(self) -> Answer | None:
        """What the engine would answer if the list excluded nothing; None where there is no list."""
        if self._world.reading is None:
            return None
        return self._world.reading.ask(self._module, self._kind, exclusions=False)

    def resolve(self, stored: str, rule: BoundRule | None) -> Member:
        """Return what a rule's decision comes to for one stored module; no rule means ``native``."""
        action = "native" if rule is None else rule.decision.action
        match action:
            case "unquantized":
                return Member(stored, "unquantized", "unquantized", None, rule)
            case "quantized":
                return self._quantized(stored, rule)
            case "error":
                return self._refused(stored, rule)
        return self.as_native(stored, rule)

    def as_native(self, stored: str, rule: BoundRule | None) -> Member:
        """Return what the engine makes of the list, as the answer for one stored module."""
        answer = self.native
        if answer is None:
            return Member(stored, "native", None, None, rule, "no checkpoint to read a list from")
        return Member(stored, "native", answer.outcome, answer.scheme, rule, answer.why)

    def _quantized(self, stored: str, rule: BoundRule | None) -> Member:
        named = None if rule is None else rule.decision.scheme
        if named is not None:
            return Member(stored, "quantized", "quantized", named, rule)
        if self._world.checkpoint is None:
            return Member(stored, "quantized", "quantized", None, rule)
        answer = self.listed_as_quantized
        if answer is None:
            reason = "the checkpoint has no quantization config to quantize it with"
        elif answer.outcome == "quantized" or answer.outcome is None:
            return Member(stored, "quantized", "quantized", answer.scheme, rule, answer.why)
        else:
            reason = answer.why
        return Member(stored, "error", "error", None, rule, f"{stored} cannot be quantized as {rule} asks: {reason}")

    @staticmethod
    def _refused(stored: str, rule: BoundRule | None) -> Member:
        reason = rule.decision.reason if rule is not None and rule.decision.reason else "refused by the policy"
        return Member(stored, "error", "error", None, rule, f"{stored}: {reason}")
