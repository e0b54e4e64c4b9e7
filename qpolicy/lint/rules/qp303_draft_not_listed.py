"""QP303: the draft is stored unquantized, but the checkpoint's list does not say so."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.view import Layer, View

CODE = Code(
    "QP303",
    "draft-not-listed",
    "warning",
    "Draft modules are stored unquantized, but no entry of the checkpoint's list covers them.",
)


def find(view: View) -> Iterator[Finding]:
    """Collect the draft's plain modules that no entry covers, where the answer still depends on the list."""
    if not view.checkpoint.draft_modules:
        return
    missed = tuple(name for layer in view.layers if layer.draft for name in _unlisted(view, layer))
    if not missed:
        return
    count = "one module" if len(missed) == 1 else f"{len(missed)} modules"
    yield CODE.finding(
        f"{count} of the draft are not quantized on disk, but no entry of the checkpoint's list covers them",
        modules=missed,
        file=view.list_file,
        fix="when draft and not quantized_on_disk: unquantized",
    )


def _unlisted(view: View, layer: Layer) -> Iterator[str]:
    for matcher in view.matchers:
        world = matcher.binding.world
        if not world.draft or world.producer is None or not world.producer.supported:
            continue
        undecided = {member.name for member in layer.decision.members if member.action == "native"}
        for module in layer.ask.modules:
            listed = matcher.binding.facts.excluded(module.name, layer.ask.kind)
            if module.quantized is False and listed is False and module.name in undecided:
                yield module.name


CHECK = Check(CODE, find)
