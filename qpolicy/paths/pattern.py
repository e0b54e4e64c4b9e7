"""One pattern: a dotted path that is matched from the first segment to the last against a module's name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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
    _repeated: int = field(init=False, compare=False, repr=False)
    _optional: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Sets of places in the pattern are integers, a bit for each element and one for the end.
        rests = _bits(element is Wildcard.REST for element in self.elements)
        object.__setattr__(self, "_optional", rests)
        object.__setattr__(self, "_repeated", rests | _bits(element is Wildcard.SOME for element in self.elements))

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
        fitting: dict[str, int] = {"": 0}
        live = self._skip(1)
        for segment in name.split("."):
            if segment not in fitting:
                fitting[segment] = self._fitting(segment)
            moved = live & fitting[segment]
            live = self._skip(moved << 1 | moved & self._repeated)
            if not live:
                return False
        return bool(live >> len(self.elements))

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

    def _fitting(self, segment: str) -> int:
        return _bits(element.matches(segment) for element in self.elements)

    def _skip(self, live: int) -> int:
        """Adds the places that are reached because a ``**`` may stand for nothing."""
        skipped = live
        while skipped := (skipped & self._optional) << 1 & ~live:
            live |= skipped
        return live


def _bits(answers: Iterable[bool]) -> int:
    return sum(1 << place for place, answer in enumerate(answers) if answer)
