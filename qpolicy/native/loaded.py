"""The lists of one config as one reading compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qpolicy.native import prepare
from qpolicy.native.config import NativeConfig
from qpolicy.native.index import EntryIndex, Item
from qpolicy.native.mapper import Mapper
from qpolicy.native.records import Record
from qpolicy.native.rules import Rules


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """The lists and rules of a config, ready to be compared with names.

    Attributes:
        index: The exclusion lists by the reading's comparisons.
        patterns: The same by its second set of comparisons.
        rules: The rules that give a scheme or none.
        included: The list of what is quantized, if the config has one that the reading consults.
        first: For each kind of layer with a scheme that comes first, the lists that decide about it.
    """

    index: EntryIndex
    patterns: EntryIndex
    rules: Rules
    included: EntryIndex | None = None
    first: Mapping[str, Lists] = field(default_factory=dict)

    @classmethod
    def load(cls, config: NativeConfig, record: Record, mapper: Mapper | None) -> Lists:
        """Load everything that a config says.

        Raises:
            NativeConfigError: An entry is a regular expression that cannot be matched in bounded time.
        """
        rules, included = Rules(config, record), prepare.included(config, record)
        first = {
            kind: _lists(prepare.first_items(config, record, mapper, plan.first), record, rules)
            for kind, plan in record.kinds.items()
            if plan.first is not None
        }
        index = EntryIndex(included, record.included_clauses) if included else None
        return _lists(prepare.items(config, record, mapper), record, rules, index, first)

    @classmethod
    def without_exclusions(cls, config: NativeConfig, record: Record) -> Lists:
        """Load what is left of a config when nothing that it excludes counts."""
        return _lists((), record, Rules(config, record, exclusions=False))


def _lists(
    items: Sequence[Item],
    record: Record,
    rules: Rules,
    included: EntryIndex | None = None,
    first: Mapping[str, Lists] | None = None,
) -> Lists:
    patterns = EntryIndex(items if record.pattern_clauses else (), record.pattern_clauses)
    return Lists(EntryIndex(items, record.clauses, eager=record.eager), patterns, rules, included, first or {})
