"""QP301: an entry of the checkpoint's list matches nothing."""

from __future__ import annotations

from collections.abc import Iterator

from qpolicy.bind import Matcher
from qpolicy.errors import QPolicyError
from qpolicy.lint.check import Check, Code
from qpolicy.lint.finding import Finding
from qpolicy.lint.names import known_names
from qpolicy.lint.view import View
from qpolicy.native import Entry, Reading
from qpolicy.paths import Pattern, suggest

CODE = Code(
    "QP301",
    "entry-matches-nothing",
    "warning",
    "An entry of the checkpoint's list matches no stored module and no layer of the engine.",
)


def find(view: View) -> Iterator[Finding]:
    """Try every entry, as the producer and as the engine reads it, on every name."""
    world = view.matchers[0].binding.world
    if world.config is None or not view.checkpoint.modules or not view.consults_list:
        return
    names = known_names(view)
    for entry in world.config.entries:
        if not _used(view, entry, names):
            yield _finding(view, entry, names)


def _used(view: View, entry: Entry, names: tuple[str, ...]) -> bool:
    producer = view.matchers[0].binding.world.producer
    if producer is None or not producer.supported:
        return True
    if any(producer.entry_matches(entry, name, "linear") for name in names):
        return True
    return any(_asked(matcher, entry, view) for matcher in view.matchers)


def _asked(matcher: Matcher, entry: Entry, view: View) -> bool:
    reading: Reading | None = matcher.binding.world.reading
    return reading is not None and any(
        reading.entry_matches(entry, layer.ask.name, layer.ask.kind)
        for layer in view.layers
        if layer.draft == matcher.binding.world.draft
    )


def _finding(view: View, entry: Entry, names: tuple[str, ...]) -> Finding:
    below = [name for name in view.checkpoint.modules if name.startswith(entry.text.rstrip(".") + ".")]
    if below:
        return CODE.finding(
            f"'{entry.text}' ({entry.where}) names no stored module, only a parent of {len(below)}; "
            "neither its producer nor this engine extends it to them",
            modules=tuple(below),
            file=view.list_file,
            severity="info",
        )
    message = f"'{entry.text}' ({entry.where}) matches no stored module and no layer of the engine"
    hint = _nearest(entry.text, names)
    return CODE.finding(message + hint, file=view.list_file, fix="remove the entry, or correct its name")


def _nearest(text: str, names: tuple[str, ...]) -> str:
    try:
        hints = suggest(Pattern.parse(text), names)
    except QPolicyError:
        return ""
    if not hints:
        return ""
    best = hints[0]
    return f"; the nearest real segment to '{best.written}' is '{best.instead}', which would match {best.count}"


CHECK = Check(CODE, find)
