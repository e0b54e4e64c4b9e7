"""The operators by their names in the readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qpolicy.native import operators, wildcards
from qpolicy.native.operators import Endings, Expressions, Globs, Lookup, Numbered, Operator, Tested
from qpolicy.native.scopes import Scoped

Loader = Callable[[Numbered, Mapping[str, Any]], Operator]

OPERATORS: dict[str, Loader] = {
    "equality": lambda entries, options: Lookup(entries, operators.itself),
    "dotted-suffix": lambda entries, options: Lookup(entries, operators.dotted_suffixes),
    "raw-suffix": lambda entries, options: Endings(entries),
    "raw-prefix": lambda entries, options: Tested(entries, str.startswith),
    "segment-run": lambda entries, options: Lookup(
        entries, operators.segment_runs, tidy="" if options.get("trailing") == "kept" else "."
    ),
    "leaf": lambda entries, options: Lookup(entries, operators.leaf),
    "substring": lambda entries, options: wildcards.Substrings(
        [(place, text + options.get("after", "")) for place, text in entries]
    ),
    "substring-any-case": lambda entries, options: Scoped(
        wildcards.Substrings([(place, text.lower()) for place, text in entries]), lambda name: (name.lower(),)
    ),
    "name-in-entry": lambda entries, options: Tested(
        [(place, text) for place, text in entries if "*" not in text], lambda name, text: name in text
    ),
    "starred-glob": lambda entries, options: Globs([(place, text) for place, text in entries if "*" in text]),
    "glob": lambda entries, options: Globs(entries),
    "glob-of-parent": lambda entries, options: Globs(
        [(place, text.removesuffix(".*")) for place, text in entries if text.endswith(".*")]
    ),
    "regex": Expressions,
    "other-regex": wildcards.OtherExpressions,
    "wildcard": lambda entries, options: wildcards.Wildcards(
        entries, wildcards.with_and_without(options.get("also_without", ""))
    ),
    "wildcard-segment": lambda entries, options: wildcards.Wildcards(entries, wildcards.segments),
    "tail": lambda entries, options: wildcards.Tails(entries, options["tails"]),
}
"""Each operator's name in the data, and how to load it with entries and the record's options."""
