"""One pattern: a dotted path that is matched from the first segment to the last against a module's name."""

from __future__ import annotations

from dataclasses import dataclass, field

from qpolicy.paths.bits import bits
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
        repeated: The places before ``*`` and ``**``. Here and below, a set of places in the pattern is an integer with
            a bit for each: bit ``n`` is the place before element ``n``, the last one is the end.
        optional: The places before ``**``.
    """

    elements: tuple[Element, ...]
    repeated: int = field(init=False, compare=False, repr=False)
    optional: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        rests = bits(element is Wildcard.REST for element in self.elements)
        object.__setattr__(self, "optional", rests)
        object.__setattr__(self, "repeated", rests | bits(element is Wildcard.SOME for element in self.elements))

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
        live = self.start
        for segment in name.split("."):
            if segment not in fitting:
                fitting[segment] = self.fitting(segment)
            live = self.after(live & fitting[segment])
            if not live:
                return False
        return bool(live & self.end)

    @property
    def start(self) -> int:
        """The places at which a name may begin."""
        return self._skip(1)

    @property
    def end(self) -> int:
        """The place behind the last element."""
        return 1 << len(self.elements)

    def fitting(self, segment: str) -> int:
        """Returns the places before the elements that take this segment, which is not empty."""
        return bits(element.matches(segment) for element in self.elements)

    def after(self, fitting: int) -> int:
        """Returns where one may be when the elements behind these places have each taken a segment."""
        return self._skip(fitting << 1 | fitting & self.repeated)

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

    def _skip(self, live: int) -> int:
        """Adds the places that are reached because a ``**`` may stand for nothing."""
        skipped = live
        while skipped := (skipped & self.optional) << 1 & ~live:
            live |= skipped
        return live
