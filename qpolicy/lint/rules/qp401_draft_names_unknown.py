"""QP401: the names that this draft class asks are not known."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import View

CODE = Code(
    "QP401",
    "draft-names-unknown",
    "info",
    "The table of draft names has no row for this architecture.",
)


def find(view: View) -> Iterator[Finding]:
    """Report a draft whose names cannot be translated."""
    if not view.checkpoint.draft_modules:
        return
    for matcher in view.matchers:
        world = matcher.binding.world
        if world.draft and world.row is None:
            arch = ", ".join(view.checkpoint.architectures) or "this checkpoint"
            yield CODE.finding(
                f"the names that {view.engine} asks for the draft of {arch} are not known; its layers were checked "
                "under their stored names, and the engine may read the list differently",
                file=str(view.checkpoint.path / "config.json"),
            )


CHECK = Check(CODE, find)
