"""One pattern: a dotted path that is matched from the first segment to the last against a module's name."""

from __future__ import annotations

from dataclasses import dataclass

from qpolicy.paths.errors import PatternError
from qpolicy.paths.parser import check_length, parse_elements
from qpolicy.paths.segments import Element, Wildcard, Word, is_quotable


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as a value. Two patterns are equal when they are written alike, layout of braces and quotes aside.

    A module's name is one or more segments with dots between them, none of them empty. A text that is no such name (the
    empty text, ``a..b``, ``.a``) matches no pattern at all, not even ``**``.

    Attributes:
        elements: What stands between the dots, at least one.
    """

    elements: tuple[Element, ...]

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Reads a pattern.

        Args:
            text: The pattern without anything around it.

        Raises:
            PatternError: The text is no pattern; names the place, the mistake and the remedy.
        """
        return cls(parse_elements(text))

    @classmethod
    def literal(cls, name: str) -> Pattern:
        """Returns the pattern that matches this one name.

        Raises:
            PatternError: The name has an empty segment or a character that no pattern can spell.
        """
        segments = name.split(".")
        if not all(segment and all(map(is_quotable, segment)) for segment in segments):
            raise PatternError(name, "no pattern can spell this name", 0, len(name), "write `?` for its odd segment")
        check_length(name, len(segments))
        return cls(tuple(Word(segment, quoted=len(segments) == 1) for segment in segments))

    def matches(self, name: str) -> bool:
        """Says whether the name, as a whole, fits this pattern."""
        last = len(self.elements)
        live = self._skip({0})
        for segment in name.split("."):
            live = self._step(live, segment) if segment else set()
            if not live:
                return False
        return last in live

    @property
    def single(self) -> str | None:
        """The segment, when the pattern is one literal segment without quotes or braces; else None."""
        first = self.elements[0]
        return first.text if len(self.elements) == 1 and isinstance(first, Word) and not first.quoted else None

    @property
    def open_ended(self) -> bool:
        """Whether the pattern ends in ``**``."""
        return self.elements[-1] is Wildcard.REST

    def then(self, rest: Pattern) -> Pattern:
        """Returns this pattern followed by another: ``mtp.**`` then ``mlp.experts`` is ``mtp.**.mlp.experts``.

        Raises:
            PatternError: This pattern does not end in ``**``, or the result is too long.
        """
        text = str(self)
        if not self.open_ended:
            raise PatternError(
                text, "a pattern that is continued must end in `.**`", 0, len(text), f"write `{text}.**`"
            )
        result = Pattern(self.elements + rest.elements)
        check_length(str(result), len(result.elements))
        return result

    def __str__(self) -> str:
        first = self.elements[0]
        if len(self.elements) == 1 and isinstance(first, Word) and first.quoted:
            return f'"{first.text}"'
        return ".".join(map(str, self.elements))

    def _step(self, live: set[int], segment: str) -> set[int]:
        after: set[int] = set()
        for place in live:
            if place == len(self.elements):
                continue
            element = self.elements[place]
            if element.matches(segment):
                after |= {place, place + 1} if element in _REPEATED else {place + 1}
        return self._skip(after)

    def _skip(self, live: set[int]) -> set[int]:
        """Adds the places that are reached because a ``**`` may stand for nothing."""
        reached = set(live)
        for start in live:
            place = start
            while place < len(self.elements) and self.elements[place] is Wildcard.REST:
                place += 1
                reached.add(place)
        return reached


_REPEATED = (Wildcard.SOME, Wildcard.REST)
