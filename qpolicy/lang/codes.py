"""The codes of syntax errors: one table, in which every code has a name and a meaning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of syntax error.

    Attributes:
        code: What is printed, such as ``QP004``.
        name: A short name in words joined by dashes.
        meaning: One line for the reader of a list of codes.
    """

    code: str
    name: str
    meaning: str


CODES: tuple[Code, ...] = (
    Code("QP001", "unreadable", "The file is not plain UTF-8 text, or is larger than a policy may be."),
    Code("QP002", "stray-text", "A quote or brace is not closed, or a sign does not belong to the language."),
    Code("QP003", "version", "The first statement must be `qpolicy 1`, and stand there once."),
    Code("QP004", "misplaced", "Something else is expected at this place of the statement."),
    Code("QP005", "decision", "The decision after the colon is missing or unknown."),
    Code("QP006", "unknown-fact", "No fact has this name."),
    Code("QP007", "fact-shape", "The fact takes other arguments or another comparison."),
    Code("QP008", "unknown-value", "The value is not one that the fact can have."),
    Code("QP009", "order", "Drops come first, then rules, then at most one `otherwise`."),
    Code("QP010", "set-name", "The name cannot be given to a set, or has been given already."),
    Code("QP011", "unknown-set", "No `let` names this set."),
    Code("QP012", "set-cycle", "A set uses itself, directly or through other sets."),
    Code("QP013", "pattern", "The pattern is malformed, or is a word that was meant as something else."),
    Code("QP014", "not-in-drop", "A drop asks about the checkpoint as a whole, not about one module."),
    Code(
        "QP015", "too-deep", "A condition or a set is nested deeper than 100 levels, or sets come to too many patterns."
    ),
)
