"""QP208: the checkpoint's files contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

CODE = Code(
    "QP208",
    "files-disagree",
    "error",
    "The index and the shards of the checkpoint disagree, or a file cannot be read.",
)


_WARNINGS = frozenset({"no-headers", "odd-name", "duplicate-key", "ignored-value", "several-indexes", "unlisted-shard"})
_ABOUT_FILES = frozenset({"missing-shard", "unlisted-shard"})


def find(view: View) -> Iterator[Finding]:
    """Report what the checkpoint reader noticed."""
    for problem in view.checkpoint.problems:
        yield CODE.finding(
            problem.message,
            modules=() if problem.kind in _ABOUT_FILES else problem.tensors,
            file=str(view.checkpoint.path / problem.file),
            severity="warning" if problem.kind in _WARNINGS else "error",
        )


CHECK = Check(CODE, find)
