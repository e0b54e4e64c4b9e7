"""The dialect of Humming, with exclusion lists and signed expressions side by side."""

from __future__ import annotations

from collections.abc import Iterable

from qpolicy.native.published import Names, Published, Scheme


class Humming(Published):
    """A published Humming config."""

    DIALECT = "humming"
    METHODS = ("humming",)
    LISTS = ("ignored_layers", "ignore", "modules_to_not_convert")
    ignored_layers: Names = None
    ignore: Names = None
    modules_to_not_convert: Names = None
    dynamic: dict[str, Scheme | None] | None = None

    def lists(self) -> Iterable[tuple[str, list[str]]]:
        """Yield the lists, then the expressions of ``dynamic`` that leave modules alone."""
        yield from super().lists()
        yield "dynamic", [text for text in self.dynamic or {} if text.startswith("-")]
