"""Hypothesis strategies for patterns and names, over so few characters that they often meet."""

from hypothesis import settings
from hypothesis import strategies as st

from qpolicy.paths import Pattern

patient = settings(deadline=None, max_examples=60)
"""For laws: a busy machine is no failure."""

LETTERS = "ab"
DIGITS = "01"
FRESH = "z"
"""A character that no pattern drawn here spells."""


def segments(characters: str = LETTERS + DIGITS + FRESH) -> st.SearchStrategy[str]:
    """Segments of names."""
    return st.text(characters, min_size=1, max_size=3)


def names(longest: int = 5) -> st.SearchStrategy[str]:
    """Names of modules."""
    return st.lists(segments(), min_size=1, max_size=longest).map(".".join)


def texts() -> st.SearchStrategy[str]:
    """Texts that may be no names: some segments are empty."""
    return st.lists(st.one_of(st.just(""), segments()), min_size=1, max_size=5).map(".".join)


def words() -> st.SearchStrategy[str]:
    """One literal segment."""
    return st.text(LETTERS + DIGITS, min_size=1, max_size=2)


def quoted() -> st.SearchStrategy[str]:
    """One literal segment in quotes."""
    return words().map('"{}"'.format)


def braces() -> st.SearchStrategy[str]:
    """Spellings, never all of one segment, so that none of them is a segment's whole."""
    spelling = st.text(LETTERS, max_size=1)
    choices = st.lists(spelling, min_size=2, max_size=3, unique=True).map(lambda found: f"{{{','.join(found)}}}")
    return st.tuples(words(), choices, st.one_of(st.just(""), words(), choices)).map("".join)


def integers() -> st.SearchStrategy[str]:
    """Integers in braces."""
    small = st.integers(0, 12)
    ranges = st.tuples(small, small).map(lambda pair: f"{min(pair)}..{max(pair)}")
    item = st.one_of(small.map(str), ranges, small.map("{}..".format))
    return st.lists(item, min_size=1, max_size=3).map(lambda items: f"{{{','.join(items)}}}")


def globs() -> st.SearchStrategy[str]:
    """One segment with one or two stars beside other characters."""
    text = st.text(LETTERS + DIGITS, min_size=1, max_size=1)
    shapes = st.sampled_from(["{}*", "*{}", "{}*{}", "*{}*", "{{a,b}}{}*", "*{}{{,b}}"])
    return st.tuples(shapes, text, text).map(lambda drawn: drawn[0].format(drawn[1], drawn[2]))


def pattern_texts(longest: int = 4) -> st.SearchStrategy[str]:
    """Well-formed patterns."""
    wildcards = st.sampled_from(["?", "*", "**"])
    segment = st.one_of(words(), wildcards, braces(), integers(), globs(), quoted())
    return st.lists(segment, min_size=1, max_size=longest).map(".".join)


def patterns(longest: int = 4) -> st.SearchStrategy[Pattern]:
    """Parsed patterns."""
    return pattern_texts(longest).map(Pattern.parse)


def groups() -> st.SearchStrategy[list[list[Pattern]]]:
    """The patterns of the rules of a policy."""
    return st.lists(st.lists(patterns(), max_size=3), max_size=6)
