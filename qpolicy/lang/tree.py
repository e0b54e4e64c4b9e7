"""The syntax tree of a policy, as plain values.

Every node knows its span. Spans do not take part in comparison, so two texts that say the same thing have equal
trees whatever their layout. Patterns stay text here: their inside belongs to :mod:`qpolicy.paths`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, TypeAlias

from qpolicy.lang.source import Span

Action: TypeAlias = Literal["unquantized", "quantized", "native", "error"]
Asker: TypeAlias = Literal["draft", "target"]
Outcome: TypeAlias = Literal["unquantized", "quantized", "error"]


@dataclass(frozen=True, slots=True)
class PatternRef:
    """A pattern as it is written, quotes and braces included."""

    text: str
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SetRef:
    """``@NAME`` or ``@NAME.rest``.

    Attributes:
        name: The set's name without the sign.
        rest: The pattern text after the first dot, or None.
    """

    name: str
    rest: str | None
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


Selector: TypeAlias = PatternRef | SetRef


@dataclass(frozen=True, slots=True)
class And:
    """True when every part is."""

    parts: tuple[Condition, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Or:
    """True when some part is."""

    parts: tuple[Condition, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Not:
    """True when its part is false."""

    part: Condition
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Flag:
    """A fact without arguments: ``draft``, ``target``, ``quantized_on_disk`` or ``excluded``."""

    name: str
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Has:
    """``has(a, b)``: the module's own tensors include each of these names."""

    tensors: tuple[str, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class DtypeIs:
    """``dtype(TENSOR) == D`` or ``dtype(TENSOR) in (D, ...)``."""

    tensor: str
    dtypes: tuple[str, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class About:
    """A fact about the stored modules that a selector selects.

    Attributes:
        name: ``excluded``, ``quantized_on_disk``, ``unquantized_on_disk`` or ``exists``.
    """

    name: str
    selector: Selector
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Is:
    """``FIELD == VALUE`` or ``FIELD in (VALUE, ...)``; the field is kind, method, format, arch or engine."""

    field: str
    values: tuple[str, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class PathIn:
    """``path in SELECTOR`` or ``path in (SELECTOR, ...)``: the module's name matches one of them."""

    selectors: tuple[Selector, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


Fact: TypeAlias = Flag | Has | DtypeIs | About | Is | PathIn
Condition: TypeAlias = And | Or | Not | Fact


@dataclass(frozen=True, slots=True)
class DecisionNode:
    """What follows the colon of a rule.

    Attributes:
        action: The decision's keyword.
        scheme: The name in ``quantized as NAME``, else None.
        reason: The text in ``error "text"``, else None.
    """

    action: Action
    scheme: str | None = None
    reason: str | None = None
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Version:
    """``qpolicy 1``."""

    number: int
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Let:
    """``let NAME = selector, ...``."""

    name: str
    selectors: tuple[Selector, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)
    name_span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Drop:
    """``drop SCOPE if CONDITION``.

    Attributes:
        scope: The set that is built without quantization; the word ``mtp`` is the set ``@mtp``.
    """

    scope: SetRef
    condition: Condition
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """``SELECTORS when CONDITION: DECISION``; no selectors means every module."""

    selectors: tuple[Selector, ...]
    condition: Condition | None
    decision: DecisionNode
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Otherwise:
    """``otherwise: DECISION``."""

    decision: DecisionNode
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Expect:
    """``expect [draft|target] SELECTOR: OUTCOME``."""

    asker: Asker | None
    selector: Selector
    outcome: Outcome
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)


Statement: TypeAlias = Version | Let | Drop | Rule | Otherwise | Expect


@dataclass(frozen=True, slots=True)
class Document:
    """A whole policy file: its statements in order, the version first."""

    statements: tuple[Statement, ...]
    span: Span = dataclasses.field(compare=False, repr=False, kw_only=True)
