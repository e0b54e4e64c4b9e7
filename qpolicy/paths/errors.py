"""What can go wrong with patterns, each error with its place and its remedy."""

from __future__ import annotations

from qpolicy.errors import QPolicyError

_SHOWN = 60


def shown(text: str) -> str:
    """Returns ``text`` fit for a message: unprintable characters escaped, the middle of a long text left out."""
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN // 2]}...{text[-_SHOWN // 2 :]}"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class PatternError(QPolicyError):
    """A text that is no pattern.

    Attributes:
        text: The whole text.
        message: What is wrong, in one sentence without a full stop.
        start: Where the mistake begins, as an offset into ``text``.
        end: Where it ends (exclusive); larger than ``start`` unless the text is empty.
        hint: What to write instead.
    """

    def __init__(self, text: str, message: str, start: int, end: int, hint: str) -> None:
        super().__init__(text, message, start, end, hint)
        self.text = text
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint

    def __str__(self) -> str:
        return f"pattern `{shown(self.text)}`, character {self.start + 1}: {self.message}\nhelp: {self.hint}"


class Undecided(QPolicyError):  # noqa: N818 - the public name: an answer, not a fault of the input
    """A question about sets of patterns that is not answered because its budget is spent.

    Attributes:
        budget: Which budget, in words, such as ``20,000 automaton states``.
    """

    def __init__(self, budget: str) -> None:
        super().__init__(
            f"undecided: comparing these patterns takes more than {budget}; "
            "compare fewer patterns at a time, or patterns with fewer `**` and `*`"
        )
        self.budget = budget
