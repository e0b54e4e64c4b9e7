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


def find(view: View) -> Iterator[Finding]:
    """Report what the checkpoint reader noticed."""
    for problem in view.checkpoint.problems:
        yield CODE.finding(
            problem.message, modules=tuple(problem.tensors), file=str(view.checkpoint.path / problem.file)
        )


CHECK = Check(CODE, find)
