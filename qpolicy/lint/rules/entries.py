"""How findings speak of the entries of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qpolicy.bind import Matcher
from qpolicy.lint.view import Layer, View
from qpolicy.native import Entry


def called(entries: Sequence[Entry]) -> str:
    """Return how entries that are alike but for their numbers are called."""
    more = f" and {len(entries) - 1} more like it" if len(entries) > 1 else ""
    return f"'{entries[0].text}' ({entries[0].where}){more}"


def listened(view: View) -> Iterator[tuple[Matcher, list[Layer]]]:
    """Yield the target and the draft, each with the layers of which some module is still left to the list."""
    for matcher in view.matchers:
        world = matcher.binding.world
        if world.config is not None and world.reading is not None and world.reading.supported:
            layers = [layer for layer in view.layers if layer.draft == world.draft and left_to_list(layer)]
            if layers:
                yield matcher, layers


def left_to_list(layer: Layer) -> bool:
    """Whether some module of a layer is decided by the list alone."""
    return any(member.action == "native" for member in layer.decision.members)


def some(names: Sequence[str]) -> str:
    """Return the first of some modules, with how many more there are."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
