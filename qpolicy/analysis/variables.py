"""What the facts of conditions depend on: variables with finitely many values, and how they hang together.

A situation gives every variable one of the values that its parents' values leave it. These relations are used:

- ``draft`` and ``target`` are opposites and never unknown. ``engine`` has one value, never unknown.
- ``kind`` is one of linear, moe, lm_head, embedding and other (a norm, a convolution), never unknown.
- Without a checkpoint, everything but those is unknown. With one, ``method`` and ``format`` each have one value or
  none, and of ``arch`` any number may hold.
- Without stored modules, every tensor fact and every fact with a pattern is unknown.
- The tensor facts ``has``, ``dtype`` and ``quantized_on_disk`` are unknown together where a name has no tensors.
- A tensor that is missing has no dtype; one that is there has one dtype, known or not. ``has(a, b)`` is ``has(a)`` and
  ``has(b)``. With tensors, ``quantized_on_disk`` may still be unknown.
- The facts ``excluded`` are unknown together where the reading of the list is not known, and otherwise never are.
- Of one pattern: ``exists`` is false where the other three are unknown because it selects nothing; not every module
  that it selects is quantized on disk and unquantized on disk at once.
- ``@mtp`` includes ``model.layers.{N..}`` and the like for an N that the policy does not know; so each such name is
  looked at as a layer of the draft and as one of the target, alike under all its names.

Facts about different patterns are taken to be independent, also where one selects part of what the other selects, and
independent of the module at hand; so are method, format and what is on disk. Situations that no checkpoint realizes
may remain: a rule that is said never to decide never does, one that is said to decide may do so only in theory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = bool | str | tuple[bool | None, bool | None] | None
Values: TypeAlias = tuple[Value, ...]

OTHER = "another"
"""Stands for every value that no condition names."""

NO_CHECKPOINT, NOTHING_STORED, STORED = "no checkpoint", "no stored modules", "stored"
ABSENT, PRESENT, UNKNOWN_DTYPE = "absent", "present", "unknown dtype"
TRUTHS: Values = (True, False, None)


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """One thing that may be so or otherwise.

    Attributes:
        name: What it is, unique among the variables of one analysis.
        values: Every value that it may have, those first that make the plainest witnesses.
        tell: Says a value in words; the empty text for what goes without saying.
        parents: The variables that limit its values.
        allowed: Returns the values that are left when the parents have these values.
    """

    name: str
    values: Values
    tell: Callable[[Value], str]
    parents: tuple[Variable, ...] = ()
    allowed: Callable[..., Values] | None = None

    def domain(self, given: Mapping[Variable, Value]) -> Values:
        """Return the values that are left; all of them as long as some parent has none yet."""
        if self.allowed is None or not all(parent in given for parent in self.parents):
            return self.values
        return self.allowed(*(given[parent] for parent in self.parents))


Given: TypeAlias = Mapping[Variable, Value]


def flag(name: str, *parents: Variable, allowed: Callable[..., Values] | None = None) -> Variable:
    """Return a variable for a fact that is true, false or unknown, told by its own name."""

    def tell(value: Value) -> str:
        return f"{name} is unknown" if value is None else name if value else f"not {name}"

    return Variable(name, TRUTHS, tell, parents, allowed)


def unless(*unknown: Value) -> Callable[..., Values]:
    """Return the rule "unknown if the parent has one of these values, else true or false"."""
    return lambda parent: (None,) if parent in unknown else (True, False)


def draft() -> Variable:
    """Whether the model under construction is the draft."""
    return Variable("draft", (False, True), lambda value: "draft" if value else "target")


def one_of(name: str, values: tuple[str, ...]) -> Variable:
    """Return a variable that has exactly one of some values."""
    return Variable(name, values, lambda value: f"{name} is {value}")


def checkpoint() -> Variable:
    """How much of a checkpoint is there."""
    return Variable(
        "checkpoint",
        (STORED, NOTHING_STORED, NO_CHECKPOINT),
        lambda value: (
            "" if value == STORED else f"there is {value}" if value == NO_CHECKPOINT else f"there are {value}"
        ),
    )


def field(name: str, values: tuple[str, ...], of: Variable) -> Variable:
    """Return ``method`` or ``format``: one value where there is a checkpoint."""
    known: Values = (*values, OTHER)

    def allowed(source: Value) -> Values:
        return (None,) if source == NO_CHECKPOINT else known

    return Variable(name, (*known, None), lambda value: f"{name} is {value or 'unknown'}", (of,), allowed)


def listing(of: Variable) -> Variable:
    """Whether it is known how the producer reads the list."""

    def allowed(source: Value) -> Values:
        return (False,) if source == NO_CHECKPOINT else (True, False)

    def tell(value: Value) -> str:
        return "" if value else "how the list is read is unknown"

    return Variable("listing", (True, False), tell, (of,), allowed)


def tensors(of: Variable) -> Variable:
    """Whether the name has tensors."""

    def allowed(source: Value) -> Values:
        return (True, False) if source == STORED else (False,)

    def tell(value: Value) -> str:
        return "" if value else "the name has no tensors"

    return Variable("tensors", (True, False), tell, (of,), allowed)


def tensor(name: str, dtypes: tuple[str, ...], of: Variable, *, others: bool) -> Variable:
    """Return what is known of one tensor of the module.

    Args:
        name: The tensor's own name.
        dtypes: The dtypes that conditions compare it with.
        of: Whether there are any tensors.
        others: Whether there are other dtypes than these.
    """
    present: Values = (*dtypes, *([OTHER] if others else []), UNKNOWN_DTYPE) if dtypes else (PRESENT,)
    known: Values = (*present, ABSENT)

    def allowed(some: Value) -> Values:
        return known if some else (None,)

    def tell(value: Value) -> str:
        match value:
            case None:
                return f"has({name}) is unknown"
            case "absent":
                return f"not has({name})"
            case "present":
                return f"has({name})"
            case "unknown dtype":
                return f"dtype({name}) is unknown"
        return f"dtype({name}) is {value}"

    return Variable(f"tensor {name}", (*known, None), tell, (of,), allowed)


def on_disk(pattern: str, exists: Variable) -> Variable:
    """Return whether all, and whether none, of the modules that a pattern selects are quantized on disk."""
    known: Values = ((True, False), (False, True), (False, False), (False, None), (None, False), (None, None))

    def allowed(some: Value) -> Values:
        return known if some is True else ((None, None),)

    def tell(value: Value) -> str:
        assert isinstance(value, tuple)
        words = {True: "", False: "not ", None: ""}
        return " and ".join(
            f"{words[truth]}{fact}({pattern}){' is unknown' if truth is None else ''}"
            for fact, truth in zip(("quantized_on_disk", "unquantized_on_disk"), value, strict=True)
        )

    return Variable(f"on disk {pattern}", known, tell, (exists,), allowed)


def excluded_all(pattern: str, exists: Variable, read: Variable) -> Variable:
    """Return whether every module that a pattern selects is excluded."""

    def allowed(some: Value, known: Value) -> Values:
        return (True, False) if some is True and known else (None,)

    return flag(f"excluded({pattern})", exists, read, allowed=allowed)


def kept_head(is_draft: Variable, quantized: Variable) -> Variable:
    """Return whether the module is the quantized head that a dropped draft keeps."""

    def allowed(draft: Value, packed: Value) -> Values:
        return (False, True) if draft is True and packed is True else (False,)

    def tell(value: Value) -> str:
        return "it is the head of the dropped draft" if value else ""

    return Variable("kept head", (False, True), tell, (is_draft, quantized), allowed)


def numbered(source: Variable) -> Variable:
    """Return whether the number in the module's name is that of a draft's layer."""

    def allowed(there: Value) -> Values:
        return (False,) if there == NO_CHECKPOINT else (True, False)

    def tell(value: Value) -> str:
        return f"its layer is {'one of @mtp' if value else 'not one of @mtp'}"

    return Variable("numbered", (True, False), tell, (source,), allowed)
