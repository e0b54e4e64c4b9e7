"""What the rules of a config make of a layer where engines compare settings rather than schemes.

AutoRound's rules may give some settings and leave the others to the config, and 16 bits mean unquantized; ModelSlim's
give a scheme to every tensor of every expert, of which SGLang looks at the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qpolicy.native.config import Entry, Group
from qpolicy.native.question import Question
from qpolicy.native.rules import Found

FULL_PRECISION = 16
_UNQUANTIZED = {"bits": FULL_PRECISION, "group_size": -1, "sym": True}
_EXPERT_PROJECTIONS = (("gate_proj", "up_proj", "down_proj"), ("w1", "w3", "w2"))


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of one name.

    Attributes:
        name: The name.
        values: Its bits, its group size and whether it is symmetric, as one text.
        bits: Its bits.
        group: The rule they come from, or the config's own settings.
        entry: The rule's string, if a rule decided.
        covered: The name is among what is quantized unless a rule says otherwise.
    """

    name: str
    values: str
    bits: Any
    group: Group
    entry: Entry | None
    covered: bool

    @property
    def excludes(self) -> bool:
        """Whether the module is left alone."""
        return isinstance(self.bits, int) and self.bits >= FULL_PRECISION

    def __str__(self) -> str:
        """Return the name with its settings."""
        return f"{self.name} {self.values}"


def settings(question: Question, *, explicit: bool) -> list[Setting]:
    """Return the settings of a layer, one for each of its parts that an engine compares.

    Mirrors SGLang 0.5.23, quantization/auto_round.py: get_layer_config.

    Args:
        question: The layer.
        explicit: A fused layer is opened only when a rule names one of its shards.
    """
    name = question.name
    named = question.rules.first(name, tiers=1)
    if named is not None:
        return [_setting(question, name, named, covered=True)]
    covered = question.kind != "lm_head" if question.included is None else bool(question.included.hits(name))
    parts = _below(question) or _shards(question, explicit=explicit) or [name]
    return [_setting(question, part, question.rules.first(part), covered) for part in parts]


def touching(question: Question) -> tuple[Entry, ...]:
    """Return the rules that could leave the layer, or a part of it, alone."""
    parts = [question.name, *_below(question), *_shards(question, explicit=False)]
    return tuple(dict.fromkeys(entry for part in parts for entry in question.rules.fitting(part)))


@dataclass(frozen=True, slots=True)
class Experts:
    """What the first expert says about all.

    Attributes:
        group: The scheme of its first matrix.
        entries: Its entries, where the engine refuses.
        error: Why it refuses.
    """

    group: Group | None
    entries: tuple[Entry, ...] = ()
    error: str | None = None


def expert_zero(question: Question) -> Experts:
    """Return the scheme of a layer of experts by its first expert.

    Mirrors SGLang 0.5.23, quantization/modelslim/modelslim.py: get_moe_scheme.

    Args:
        question: The layer.
    """
    for tier in range(question.rules.depth):
        for gate, up, down in _EXPERT_PROJECTIONS:
            first, second, third = (question.rules.at(f"{question.name}.0.{leaf}", tier) for leaf in (gate, up, down))
            upper = [found for found in (first, second) if found is not None]
            if upper and third is not None:
                return _experts(question, upper, third)
    return Experts(None, (), f"nothing is said about the first expert of {question.name}")


def _experts(question: Question, upper: list[Found], lower: Found) -> Experts:
    entries = tuple(found.entry for found in (*upper, lower))
    if len({found.group.name for found in upper}) > 1:
        return Experts(None, entries, f"the first expert of {question.name} has different schemes for gate and up")
    known = question.record.kinds["moe"].schemes
    unknown = sorted({found.group.name for found in (upper[0], lower)} - set(known))
    if unknown:
        return Experts(None, entries, f"the engine has no scheme {', '.join(unknown)} for experts ({question.name})")
    return Experts(upper[0].group)


def _below(question: Question) -> list[str]:
    if question.kind != "moe":
        return []
    return [name for name, _ in question.rules.names if name.startswith(question.name)]


def _shards(question: Question, *, explicit: bool) -> list[str]:
    for family, members in question.packed.items():
        if question.rules.names and question.name.count(family) == 1:
            parts = [question.name.replace(family, member) for member in members]
            if not explicit or any(question.rules.first(part) is not None for part in parts):
                return parts
    return []


def _setting(question: Question, name: str, found: Found | None, covered: bool) -> Setting:
    base = _base(question.rules.otherwise) if covered else _UNQUANTIZED
    own = found.group.arguments if found is not None else {}
    values = {key: own.get(key, default) for key, default in base.items()}
    group = found.group if found is not None else question.rules.otherwise
    entry = found.entry if found is not None else None
    return Setting(name, str(list(values.values())), values["bits"], group, entry, covered)


def _base(group: Group) -> dict[str, Any]:
    return {key: (group.arguments or {}).get(key) for key in _UNQUANTIZED}
